// Shared by the two benchmarks of concurrent structures: threads, also more than there are processors,
// and a line for each number of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace bench {

inline constexpr unsigned structure_threads[] = {1, 2, 4, 8};

// Processor nanoseconds that each of a thread's operations takes, waiting included: threads call
// body(thread, operations), all at once. If there are more threads than processors, they share them.
template <class Body> double ns_an_operation(unsigned threads, unsigned long operations, Body body) {
    std::atomic<unsigned> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            ready.fetch_add(1);
            while (!go.load(std::memory_order_acquire))
                ::sched_yield();
            body(t, operations);
        });
    while (ready.load() < threads)
        ::sched_yield();
    const double seconds = timed([&] {
        go.store(true, std::memory_order_release);
        for (std::thread &each : running)
            each.join();
    });
    const double processors = double(std::min<std::size_t>(threads, usable_processors().size()));
    return seconds * 1e9 * processors / (double(operations) * threads);
}

inline std::string threads_text(unsigned threads) {
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

// No runtime is started: the threads are the system's.
inline constexpr version structures_version = {"fult", 0,
                                               [](unsigned, const std::function<void()> &body) { body(); }};

} // namespace bench
