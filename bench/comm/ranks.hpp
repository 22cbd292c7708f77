// What the benchmarks of two ranks share: the number of repetitions, the contents of a message, the names of
// sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.hpp"
#include "common/micro.hpp"

namespace bench {

// A wrong answer. The launcher ends the other rank.
[[noreturn]] inline void wrong(const std::string &what) {
    std::fprintf(stderr, "wrong answer: %s\n", what.c_str());
    std::fflush(stderr);
    std::_Exit(1);
}

// How long a figure may take.
struct patience {
    double seconds = 0.1;     // of one repetition
    unsigned repetitions = 3; // whose median counts
    bool least = false;       // the least one counts instead
    unsigned long fewest = 1; // rounds
    void declare(arguments &line) {
        line.option("--seconds", seconds, "approximate duration of a repetition");
        line.option("--repetitions", repetitions, "number of repetitions; the median counts");
        line.option("--least", least,
                    "report the minimum instead: with many short repetitions, for a busy machine");
    }
};

// Seconds that a round of body(rounds) takes; both ranks call it, rank 0 counts and decides how many rounds
// there are. One long run is not believed: the rank may have waited for a processor.
template <class Ranks, class Body> double seconds_a_round(Ranks &here, const patience &wanted, Body body) {
    unsigned long rounds = wanted.fewest;
    for (bool long_enough = false;;) {
        const double spent = timed([&] { body(rounds); });
        const bool before = std::exchange(long_enough, spent > 0.5 * wanted.seconds);
        const double factor = std::min(wanted.seconds / std::max(spent, 1e-9), 50.0);
        const auto next = std::max(static_cast<unsigned long>(double(rounds) * factor), rounds + 1);
        const unsigned long decided = here.agree(!long_enough ? next : before ? 0 : rounds);
        if (decided == 0)
            break;
        rounds = decided;
    }
    std::vector<double> all;
    for (unsigned i = 0; i < std::max(wanted.repetitions, 1U); ++i) {
        here.agree(0); // both are here
        all.push_back(timed([&] { body(rounds); }) / double(rounds));
    }
    return wanted.least ? *std::min_element(all.begin(), all.end()) : median(all);
}

// A message has its number at its beginning and at its end.
inline void stamp(std::span<std::byte> message, std::uint64_t number) noexcept {
    std::memcpy(message.data(), &number, sizeof number);
    std::memcpy(message.data() + message.size() - sizeof number, &number, sizeof number);
}

inline void check(std::span<const std::byte> message, std::uint64_t number) {
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, message.data(), sizeof first);
    std::memcpy(&last, message.data() + message.size() - sizeof last, sizeof last);
    if (first != number || last != number)
        wrong("message " + std::to_string(number) + " of " + std::to_string(message.size()) +
              " bytes says that it is " + std::to_string(first) + ", at its end " + std::to_string(last));
}

inline std::string size_text(std::size_t bytes) {
    if (bytes >= std::size_t{1} << 20 && bytes % (std::size_t{1} << 20) == 0)
        return std::to_string(bytes >> 20) + " MiB";
    if (bytes >= std::size_t{1} << 10 && bytes % (std::size_t{1} << 10) == 0)
        return std::to_string(bytes >> 10) + " KiB";
    return std::to_string(bytes) + " B";
}

// The sizes for latency and bandwidth, unless --size names another one.
inline std::vector<unsigned long> sizes_or(unsigned long one, std::vector<unsigned long> usual) {
    if (one == 0)
        return usual;
    if (one < sizeof(std::uint64_t))
        arguments::fail("messages have 8 bytes at least: they carry their number");
    return {one};
}

inline const std::vector<unsigned long> latency_sizes{8,     64,     512,     4096,   16384,
                                                      65536, 262144, 1048576, 4194304};
inline const std::vector<unsigned long> bandwidth_sizes{65536, 262144, 1048576, 4194304};

} // namespace bench
