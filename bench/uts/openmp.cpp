#include "common/openmp_version.hpp"
#include "uts/uts.hpp"

namespace {
using namespace bench;

uts::totals visit(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    if (count == 0)
        return {1, 1, std::uint64_t(here.depth)};
    uts::totals *results = static_cast<uts::totals *>(__builtin_alloca(count * sizeof(uts::totals)));
    const uts::node *parent = &here;
    for (unsigned i = 0; i < count; ++i) {
#pragma omp task firstprivate(parent, results, i)
        results[i] = visit(uts::child_node(*parent, i));
    }
#pragma omp taskwait
    uts::totals sum{1, 0, 0};
    for (unsigned i = 0; i < count; ++i)
        sum.add(results[i]);
    return sum;
}
} // namespace

int main(int argc, char **argv) { return uts::uts_main(argc, argv, openmp_version, visit); }
