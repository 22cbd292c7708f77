// Two tasks on two workers that wake each other in turn: nanoseconds one way, beside the raw ping-pong of two
// flags.
#pragma once

#include <atomic>
#include <string>

#include "common/clock.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace bench {

// play(round_trips, strays) plays so many, and adds to strays how often a side found itself on the other's
// worker: the measure means nothing then.
template <class Play> int signal_wait_main(int argc, char **argv, const version &how, Play play) {
    kernel_settings settings;
    settings.workers = 2;
    unsigned long round_trips = 100'000;
    arguments line("signal_wait: two tasks on two workers wake each other in turn, nanoseconds one way.");
    line.option("--round-trips", round_trips, "number of round trips per round");
    settings.declare(line);
    line.parse(argc, argv);
    if (settings.workers < 2)
        arguments::fail("two workers are needed");
    if (usable_processors().size() < 2)
        arguments::fail("two processors are needed");
    return run_micro("signal_wait", how, settings, [&] {
        const double raw = flag_ping_pong_ns(round_trips);
        unsigned long strays = 0;
        play(round_trips / 10, strays); // warm
        const double seconds = timed([&] { play(round_trips, strays); });
        if (strays)
            return std::to_string(strays) + " times a task was not on its own worker: nothing crossed there";
        report({"signal_wait", "one way", how.name, settings.workers, seconds * 1e9 / double(round_trips) / 2,
                "ns"},
               "raw flag ping-pong", raw);
        return std::string();
    });
}

} // namespace bench
