// N tasks of one worker that yield to each other: nanoseconds per yield.
#pragma once

#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"

namespace bench {

inline constexpr unsigned yield_counts[] = {2, 1000};

// run(tasks, yields) runs so many tasks that yield so often each. The difference of two runs leaves out
// starting and ending.
template <class Run> double yield_ns(unsigned tasks, Run run) {
    const unsigned few = 100'000 / tasks;
    const unsigned many = 11 * few;
    run(tasks, few); // warm
    const double start_and_few = timed([&] { run(tasks, few); });
    const double start_and_many = timed([&] { run(tasks, many); });
    return (start_and_many - start_and_few) * 1e9 / (double(many - few) * tasks);
}

inline void read_yield_settings(int argc, char **argv, kernel_settings &settings) {
    arguments line("yield: tasks of one worker that yield to each other, nanoseconds per yield.");
    settings.declare(line);
    line.parse(argc, argv);
}

template <class Run> int yield_main(int argc, char **argv, const version &how, Run run) {
    kernel_settings settings;
    read_yield_settings(argc, argv, settings);
    return run_micro("yield", how, settings, [&] {
        for (unsigned tasks : yield_counts)
            report({"yield", std::to_string(tasks), how.name, settings.workers, yield_ns(tasks, run), "ns"});
        return std::string();
    });
}

} // namespace bench
