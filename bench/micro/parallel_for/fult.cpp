#include <atomic>

#include <fult/loops.hpp>

#include "common/fult_version.hpp"
#include "micro/parallel_for/parallel_for.hpp"

int main(int argc, char **argv) {
    return bench::parallel_for_main(
        argc, argv, bench::fult_version,
        [] {
            fult::parallel_for(0ul, bench::iterations, [](unsigned long i) { bench::next_to_nothing(i); });
        },
        [] {
            std::atomic<std::uint64_t> total{0};
            fult::parallel_for_ranges(0ul, bench::additions, [&](std::uint64_t begin, std::uint64_t end) {
                total.fetch_add(bench::sum_of(begin, end), std::memory_order_relaxed);
            });
            return total.load();
        });
}
