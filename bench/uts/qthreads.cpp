#include "common/qthreads_version.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

struct call {
    const uts::node *parent;
    std::uint64_t index;
    aligned_t done;
    uts::totals result;
};

uts::totals visit(const uts::node &here);

aligned_t run(void *argument) {
    call *mine = static_cast<call *>(argument);
    mine->result = visit(uts::child_node(*mine->parent, unsigned(mine->index)));
    return 0;
}

uts::totals visit(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    if (count == 0)
        return {1, 1, std::uint64_t(here.depth)};
    call *calls = new call[count]; // its stacks are small
    for (unsigned i = 0; i < count; ++i) {
        calls[i] = {&here, i, 0, {}};
        qthread_fork(run, calls + i, &calls[i].done);
    }
    uts::totals sum{1, 0, 0};
    for (unsigned i = count; i-- > 0;) {
        qthread_readFF(nullptr, &calls[i].done);
        sum.add(calls[i].result);
    }
    delete[] calls;
    return sum;
}
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, qthreads_version, visit); }
