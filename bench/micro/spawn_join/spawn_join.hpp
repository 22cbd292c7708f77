// Spawn N tasks that do nothing, then join them in the order in which they were spawned: nanoseconds a task.
#pragma once

#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"

namespace bench {

struct spawn_join_settings : kernel_settings {
    unsigned long size = 0; // 0: all of sizes
    std::vector<unsigned long> sizes;

    void read(int argc, char **argv, bool *suspend = nullptr) {
        arguments line("spawn_join: spawn and join of N empty tasks, nanoseconds per task.");
        line.option("-n,--size", size, "number of tasks; 0: several numbers, one after the other");
        if (suspend)
            line.option("--suspend", *suspend, "each task yields once, so that it needs a stack of its own");
        declare(line);
        line.parse(argc, argv);
        if (size)
            sizes = {size};
    }
};

// batch(n) spawns and joins n tasks. Small batches are repeated so that a measure has about a million tasks.
template <class Batch> double spawn_join_ns(unsigned long n, Batch batch) {
    constexpr unsigned long tasks = 1 << 20;
    const unsigned long repeat = n < tasks ? tasks / n : 1;
    batch(n); // warm
    const double seconds = timed([&] {
        for (unsigned long i = 0; i < repeat; ++i)
            batch(n);
    });
    return seconds * 1e9 / double(repeat * n);
}

// For the versions that have nothing to be compared with in their own process.
template <class Batch> int spawn_join_main(int argc, char **argv, const version &how, Batch batch) {
    spawn_join_settings settings;
    settings.sizes = {64, 512, 4096, 65536};
    settings.read(argc, argv);
    return run_micro("spawn_join", how, settings, [&] {
        for (unsigned long n : settings.sizes)
            report(
                {"spawn_join", std::to_string(n), how.name, settings.workers, spawn_join_ns(n, batch), "ns"});
        return std::string();
    });
}

} // namespace bench
