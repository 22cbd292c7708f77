// A lock among 64 tasks that do nothing but take it, for critical sections of several lengths: nanoseconds a
// section, beside the sections alone and beside as many threads with pthread mutexes.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/references.hpp"

namespace bench {

inline constexpr unsigned lock_tasks = 64;
inline constexpr unsigned section_cycles[] = {0, 128, 1024, 32768};

// A chain of multiplications and additions: four cycles each on today's processors, whatever the clock does.
[[gnu::always_inline]] inline void critical_section(unsigned cycles) {
    unsigned long value = cycles;
    for (unsigned i = 0; i < cycles / 4; ++i) {
        value = value * 0x9e3779b97f4a7c15u + 1;
        keep(value);
    }
}

inline unsigned sections_of_each(unsigned cycles) { return cycles < 1024 ? 2000 : cycles < 4096 ? 1000 : 40; }

inline double section_alone_ns(unsigned cycles) {
    return nanoseconds_each(cycles < 4096 ? 20'000 : 1'000, [&] { critical_section(cycles); });
}

inline double exchange_ns() {
    alignas(128) std::atomic<unsigned> word{0};
    return nanoseconds_each(1'000'000, [&] { word.exchange(1, std::memory_order_acq_rel); });
}

// The same with threads of the system.
inline void hammer_with_threads(unsigned cycles, unsigned sections, unsigned long &count) {
    std::mutex lock;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < lock_tasks; ++t)
        threads.emplace_back([&] {
            for (unsigned i = 0; i < sections; ++i) {
                std::lock_guard guard(lock);
                ++count;
                critical_section(cycles);
            }
        });
    for (std::thread &each : threads)
        each.join();
}

// hammer(cycles, sections, count): 64 tasks take the lock so often each, and count under it.
// uncontended(count): locks and unlocks so often, in one task.
template <class Hammer, class Uncontended>
int lock_main(int argc, char **argv, const version &how, Hammer hammer, Uncontended uncontended) {
    kernel_settings settings;
    settings.workers = 2;
    bool threads = std::string(how.name) == "fult";
    arguments line(
        "lock: lock and unlock alone, then 64 tasks that take it in turn, nanoseconds per critical section.");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("lock", how, settings, [&] {
        const double exchange = exchange_ns();
        const unsigned long many = 1'000'000;
        uncontended(many / 10);
        report({"lock", "uncontended", how.name, settings.workers,
                timed([&] { uncontended(many); }) * 1e9 / many, "ns"},
               "atomic exchange", exchange);
        for (unsigned cycles : section_cycles) {
            const unsigned sections = sections_of_each(cycles);
            const double all = double(lock_tasks) * sections;
            const std::string name = std::to_string(cycles) + " cycles";
            unsigned long count = 0;
            hammer(cycles, sections / 8, count); // warm
            count = 0;
            const double alone = section_alone_ns(cycles);
            const double ns = timed([&] { hammer(cycles, sections, count); }) * 1e9 / all;
            if (count != lock_tasks * static_cast<unsigned long>(sections))
                return "two owners at once: " + std::to_string(count) + " sections were counted";
            report({"lock", name, how.name, settings.workers, ns, "ns"}, "the sections alone", alone);
            if (!threads)
                continue;
            unsigned long counted = 0;
            const double theirs = timed([&] { hammer_with_threads(cycles, sections, counted); }) * 1e9 / all;
            report({"lock", name + ", against pthread mutexes", how.name, settings.workers, ns, "ns"},
                   "64 threads, pthread mutex", theirs);
        }
        return std::string();
    });
}

} // namespace bench
