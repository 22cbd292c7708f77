#include "common/argobots_version.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

struct call {
    const uts::node *parent;
    unsigned index;
    ABT_thread thread;
    uts::totals result;
};

uts::totals visit(const uts::node &here);

void run(void *argument) {
    call *mine = static_cast<call *>(argument);
    mine->result = visit(uts::child_node(*mine->parent, mine->index));
}

uts::totals visit(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    if (count == 0)
        return {1, 1, std::uint64_t(here.depth)};
    // On the heap: its stacks are small, and a root may have thousands of children.
    call *calls = new call[count];
    for (unsigned i = 0; i < count; ++i) {
        calls[i].parent = &here;
        calls[i].index = i;
        check_abt(ABT_thread_create(abt_here(), run, calls + i, ABT_THREAD_ATTR_NULL, &calls[i].thread),
                  "ABT_thread_create");
    }
    uts::totals sum{1, 0, 0};
    for (unsigned i = count; i-- > 0;) {
        ABT_thread_free(&calls[i].thread); // joins first
        sum.add(calls[i].result);
    }
    delete[] calls;
    return sum;
}
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, argobots_version, visit); }
