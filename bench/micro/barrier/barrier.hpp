// N tasks on two workers that meet at a barrier again and again: microseconds a meeting, beside the raw
// ping-pong of two flags.
#pragma once

#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace bench {

inline constexpr unsigned barrier_counts[] = {2, 64, 1024};

// run(tasks, phases): so many tasks meet so often. The difference of two runs leaves out starting and ending.
template <class Run> int barrier_main(int argc, char **argv, const version &how, Run run) {
    kernel_settings settings;
    settings.workers = 2;
    arguments line("barrier: tasks on two workers that meet at a barrier, microseconds per barrier.");
    settings.declare(line);
    line.parse(argc, argv);
    if (usable_processors().size() < 2)
        arguments::fail("two processors are needed");
    return run_micro("barrier", how, settings, [&] {
        for (unsigned tasks : barrier_counts) {
            const unsigned few = 20'000 / tasks + 20, many = 11 * few;
            const double raw = flag_ping_pong_ns(50'000);
            run(tasks, few); // warm
            const double start_and_few = timed([&] { run(tasks, few); });
            const double start_and_many = timed([&] { run(tasks, many); });
            report({"barrier", std::to_string(tasks) + " tasks", how.name, settings.workers,
                    (start_and_many - start_and_few) * 1e6 / (many - few), "us"},
                   "raw flag ping-pong", raw / 1e3);
        }
        return std::string();
    });
}

} // namespace bench
