#include <omp.h>

#include "micro/parallel_for/parallel_for.hpp"

// Outside of any region: each loop is one.
namespace {
void run_openmp(unsigned workers, const std::function<void()> &body) {
    omp_set_num_threads(static_cast<int>(workers));
    body();
}
constexpr bench::version outside_regions{FULT_BENCH_OPENMP, 0, run_openmp};
} // namespace

int main(int argc, char **argv) {
    return bench::parallel_for_main(
        argc, argv, outside_regions,
        [] {
#pragma omp parallel for
            for (unsigned long i = 0; i < bench::iterations; ++i)
                bench::next_to_nothing(i);
        },
        [] {
            std::uint64_t total = 0;
#pragma omp parallel for reduction(+ : total)
            for (std::uint64_t i = 0; i < bench::additions; ++i)
                total += i & 255; // as sum_of
            return total;
        });
}
