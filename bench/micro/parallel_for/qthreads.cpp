#include <atomic>
#include <qthread/qloop.h>

#include "common/qthreads_version.hpp"
#include "micro/parallel_for/parallel_for.hpp"

namespace {
void nearly_empty(size_t begin, size_t end, void *) {
    for (size_t i = begin; i < end; ++i)
        bench::next_to_nothing(i);
}
void add(size_t begin, size_t end, void *argument) {
    static_cast<std::atomic<std::uint64_t> *>(argument)->fetch_add(bench::sum_of(begin, end),
                                                                   std::memory_order_relaxed);
}
} // namespace

int main(int argc, char **argv) {
    return bench::parallel_for_main(
        argc, argv, bench::qthreads_version,
        [] { qt_loop_balance(0, bench::iterations, nearly_empty, nullptr); },
        [] {
            std::atomic<std::uint64_t> total{0};
            qt_loop_balance(0, bench::additions, add, &total);
            return total.load();
        });
}
