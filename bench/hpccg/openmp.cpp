#include "../../apps/hpccg/openmp_execution.hpp"
#include "hpccg/hpccg.hpp"

namespace {
// Each loop is a parallel region of its own, so there is none around the solver.
constexpr bench::version openmp_loops{FULT_BENCH_OPENMP, 0,
                                      [](unsigned, const std::function<void()> &body) { body(); }};
} // namespace

int main(int argc, char **argv) {
    return bench::hpccg::hpccg_main(argc, argv, openmp_loops,
                                    [](unsigned workers) { return hpccg::openmp_execution{workers}; });
}
