// Loops over indices: one of 1,000 iterations that do next to nothing, which is all overhead, and one of 10^8
// additions, which is hardly any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace bench {

inline constexpr unsigned iterations = 1000;

// An iteration of the short loop: nothing that can be optimized away.
[[gnu::always_inline]] inline void next_to_nothing(unsigned long i) noexcept { keep(i); }

// The long loop adds up 10^8 small numbers computed from the indices: a part of it.
inline constexpr std::uint64_t additions = 100'000'000;

[[gnu::always_inline]] inline std::uint64_t sum_of(std::uint64_t begin, std::uint64_t end) noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t i = begin; i < end; ++i)
        sum += i & 255;
    return sum;
}

[[gnu::noinline]] inline std::uint64_t sum_serially() noexcept {
    std::uint64_t n = additions;
    keep(n);
    return sum_of(0, n);
}

struct loop_settings : kernel_settings {
    unsigned long loops = 20'000;
    bool no_additions = false;
    void read(int argc, char **argv) {
        workers = 2;
        arguments line("parallel_for: short loops, nanoseconds each, and a long one, milliseconds.");
        line.option("--loops", loops, "number of short loops per round");
        line.option("--no-additions", no_additions, "only the short loops");
        declare(line);
        line.parse(argc, argv);
    }
};

// short_loop() runs one loop of next_to_nothing; sum() is that of all pieces.
template <class Short, class Sum>
int parallel_for_main(int argc, char **argv, const version &how, Short short_loop, Sum sum) {
    loop_settings settings;
    settings.read(argc, argv);
    return run_micro("parallel_for", how, settings, [&]() -> std::string {
        const double raw = flag_ping_pong_ns(20'000);
        for (unsigned long i = 0; i < settings.loops / 10; ++i) // warm
            short_loop();
        const double seconds = timed([&] {
            for (unsigned long i = 0; i < settings.loops; ++i)
                short_loop();
        });
        report({"parallel_for", "1,000 nearly empty", how.name, settings.workers,
                seconds * 1e9 / double(settings.loops), "ns"},
               "raw flag ping-pong", raw);
        if (settings.no_additions)
            return {};
        const std::uint64_t expected = sum_serially();
        bool right = sum() == expected; // warm
        std::vector<double> serial, parallel;
        for (int turn = 0; turn < 9; ++turn) {
            std::uint64_t found[2];
            serial.push_back(timed([&] { found[0] = sum_serially(); }));
            parallel.push_back(timed([&] { found[1] = sum(); }));
            right = right && found[0] == expected && found[1] == expected;
        }
        report({"parallel_for", "10^8 additions", how.name, settings.workers, median(parallel) * 1e3, "ms"},
               "serial", median(serial) * 1e3);
        return right ? std::string() : std::string("the sum is wrong");
    });
}

} // namespace bench
