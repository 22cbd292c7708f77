// 64 tasks a rank in blocking ping-pongs of 64 bytes, each of which computes before every send and every
// receive (the benchmark of figure 5.16 of Dang's dissertation). Beside the rate: the rate that would remain
// if computing delayed nothing but itself. A rank with one core is saturated by communicating alone, so a
// message takes the time without computing plus the time of the computing; where communicating leaves cores
// idle, the rate may be better than that.
#include <array>

#include "comm/connection.hpp"

namespace {
using namespace bench;

constexpr unsigned long step_counts[] = {16, 64, 256, 1024, 4096, 16384, 65536};

std::uint64_t compute(unsigned long steps, std::uint64_t value) {
    for (unsigned long i = 0; i < steps; ++i) {
        value =
            value * 6364136223846793005U + 1442695040888963407U; // a multiply and an add, one after the other
        keep(value);
    }
    return value;
}

double compute_ns(unsigned long steps) {
    const unsigned long times = std::max(2'000'000 / (steps + 1), 1UL);
    std::uint64_t value = 1;
    return timed([&] {
               for (unsigned long i = 0; i < times; ++i)
                   value = compute(steps, value);
               keep(value);
           }) *
           1e9 / double(times);
}

void pair(connection &here, unsigned tag, unsigned long rounds, unsigned long steps) {
    std::array<std::byte, 64> bytes{};
    std::uint64_t value = tag;
    for (unsigned long i = 0; i < rounds; ++i) {
        for (const bool sends : {here.rank() == 0, here.rank() != 0}) {
            value = compute(steps, value);
            if (sends) {
                stamp(bytes, i + tag);
                here.send(bytes.data(), bytes.size(), tag);
            } else {
                here.recv(bytes.data(), bytes.size(), tag);
                check(bytes, i + tag);
            }
        }
    }
    keep(value);
}

double ns_a_message(connection &here, const patience &wanted, unsigned long tasks, unsigned long steps) {
    const double round = seconds_a_round(here, wanted, [&](unsigned long rounds) {
        here.tasks(tasks, [&, rounds](unsigned long k) { pair(here, unsigned(k) + 1, rounds, steps); });
    });
    return round * 1e9 / (2 * double(tasks));
}
} // namespace

int main(int argc, char **argv) {
    unsigned long tasks = 64;
    patience wanted;
    wanted.fewest = 10;
    wanted.repetitions = 1;
    arguments line(
        "comm_compute: message rate of tasks that compute between messages, million messages per second.");
    line.option("-n,--tasks", tasks, "tasks per rank");
    wanted.declare(line);
    line.parse(argc, argv);
    connection here(tasks > 1);
    for (const unsigned long steps : step_counts) {
        const double alone = ns_a_message(here, wanted, tasks, 0);
        const double computing = compute_ns(steps);
        const double both = ns_a_message(here, wanted, tasks, steps);
        if (here.rank() == 0)
            report({"comm_compute", std::to_string(steps) + " steps", connection::version,
                    connection::workers(), 1e3 / both, "Mmsg/s"},
                   "without computing, its time added", 1e3 / (alone + computing));
    }
}
