// A histogram in the memory of all ranks. Tasks of each rank draw numbers and count them where they belong: a
// task that waits for another rank waits alone.
// fult-run -n 4 example_ranks_global
#include <cstdint>
#include <cstdio>
#include <vector>

#include <fult/global.hpp>

constexpr std::size_t bins = 64;
constexpr int tasks = 100, draws = 50; // per rank, per task

int main() {
    fult::runtime runtime;
    fult::comm::context net; // a single rank if there is no launcher
    fult::global::memory memory(net.world(), {.heap = 1 << 20});
    fult::global::global_vector<std::int64_t> histogram(memory, bins); // a part in the heap of each rank

    fult::task_group group;
    for (int task = 0; task < tasks; ++task)
        group.spawn([&, task] {
            auto state = static_cast<std::uint64_t>(net.rank() * tasks + task);
            for (int i = 0; i < draws; ++i) {
                state = state * 6364136223846793005U + 1442695040888963407U;
                memory.fetch_add(histogram.pointer(state >> 58), 1); // atomic, on any rank
            }
        });
    group.wait();
    memory.barrier(); // all ranks have counted

    std::int64_t own = 0;
    for (const std::int64_t count : histogram.local()) // the part of this rank, without messages
        own += count;
    std::vector<std::int64_t> all(bins);
    histogram.get(0, all); // the whole, from all ranks
    std::int64_t sum = 0;
    for (const std::int64_t count : all)
        sum += count;
    std::printf("rank %d has %lld of %lld\n", net.rank(), static_cast<long long>(own),
                static_cast<long long>(sum));
    return sum == std::int64_t{draws} * tasks * net.size() ? 0 : 1;
}
