#include <atomic>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "common/tbb_version.hpp"
#include "micro/parallel_for/parallel_for.hpp"

int main(int argc, char **argv) {
    return bench::parallel_for_main(
        argc, argv, bench::tbb_version,
        [] {
            tbb::parallel_for(0ul, static_cast<unsigned long>(bench::iterations),
                              [](unsigned long i) { bench::next_to_nothing(i); });
        },
        [] {
            std::atomic<std::uint64_t> total{0};
            tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, bench::additions),
                              [&](const tbb::blocked_range<std::uint64_t> &piece) {
                                  total.fetch_add(bench::sum_of(piece.begin(), piece.end()),
                                                  std::memory_order_relaxed);
                              });
            return total.load();
        });
}
