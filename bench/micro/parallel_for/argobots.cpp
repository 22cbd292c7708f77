#include <atomic>

#include "common/argobots_version.hpp"
#include "micro/parallel_for/parallel_for.hpp"

// Argobots has no loops: a tasklet for each other stream, the first share here.
namespace {
using bench::check_abt;

struct share {
    std::size_t begin, end;
    std::atomic<std::uint64_t> *total;
};

void nearly_empty(void *argument) {
    const share &mine = *static_cast<share *>(argument);
    for (unsigned long i = mine.begin; i < mine.end; ++i)
        bench::next_to_nothing(i);
}
void add(void *argument) {
    const share mine = *static_cast<share *>(argument);
    mine.total->fetch_add(bench::sum_of(mine.begin, mine.end), std::memory_order_relaxed);
}

void in_shares(std::size_t n, void (*body)(void *), std::atomic<std::uint64_t> *total) {
    constexpr std::size_t most = 64;
    const std::size_t streams = std::min(bench::abt_pools.size(), most);
    share shares[most];
    ABT_task tasks[most];
    for (std::size_t k = 0; k < streams; ++k)
        shares[k] = {n / streams * k, k + 1 == streams ? n : n / streams * (k + 1), total};
    for (std::size_t k = 1; k < streams; ++k)
        check_abt(ABT_task_create(bench::abt_pools[k], body, &shares[k], &tasks[k]), "ABT_task_create");
    body(&shares[0]);
    for (std::size_t k = 1; k < streams; ++k)
        check_abt(ABT_task_free(&tasks[k]), "ABT_task_free"); // joins first
}
} // namespace

int main(int argc, char **argv) {
    return bench::parallel_for_main(
        argc, argv, bench::argobots_version, [] { in_shares(bench::iterations, nearly_empty, nullptr); },
        [] {
            std::atomic<std::uint64_t> total{0};
            in_shares(bench::additions, add, &total);
            return total.load();
        });
}
