#include "common/tbb_version.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

uts::totals visit(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    if (count == 0)
        return {1, 1, std::uint64_t(here.depth)};
    uts::totals *results = static_cast<uts::totals *>(__builtin_alloca(count * sizeof(uts::totals)));
    tbb::task_group group;
    for (unsigned i = 0; i < count; ++i)
        group.run([&here, result = results + i, i] { *result = visit(uts::child_node(here, i)); });
    group.wait();
    uts::totals sum{1, 0, 0};
    for (unsigned i = 0; i < count; ++i)
        sum.add(results[i]);
    return sum;
}
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, tbb_version, visit); }
