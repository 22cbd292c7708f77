// One task a rank, blocking: a message there, one back. Microseconds one way (the pattern of osu_latency).
#include "comm/connection.hpp"

namespace {
using namespace bench;

void ping_pong(connection &here, std::span<std::byte> out, std::span<std::byte> in, unsigned long rounds) {
    if (here.rank() == 0)
        for (unsigned long i = 0; i < rounds; ++i) {
            stamp(out, i);
            here.send(out.data(), out.size(), 1);
            here.recv(in.data(), in.size(), 1);
            check(in, ~i);
        }
    else
        for (unsigned long i = 0; i < rounds; ++i) {
            here.recv(in.data(), in.size(), 1);
            check(in, i);
            stamp(out, ~i);
            here.send(out.data(), out.size(), 1);
        }
}
} // namespace

int main(int argc, char **argv) {
    unsigned long one = 0;
    unsigned measurements = 1;
    patience wanted;
    arguments line(
        "comm_latency: messages between two ranks, there and back, one task each; microseconds one way.");
    line.option("--size", one, "bytes of a message; 0: 8 to 4 MiB");
    line.option("--rounds", measurements, "number of measurements of each size; each writes a record");
    wanted.declare(line);
    line.parse(argc, argv);
    const auto sizes = sizes_or(one, latency_sizes);
    connection here(false);
    for (const unsigned long size : sizes) {
        std::vector<std::byte> out(size), in(size);
        for (unsigned i = 0; i < measurements; ++i) {
            const double round = seconds_a_round(
                here, wanted, [&](unsigned long rounds) { ping_pong(here, out, in, rounds); });
            if (here.rank() == 0)
                report({"comm_latency", size_text(size), connection::version, connection::workers(),
                        round * 1e6 / 2, "us"});
        }
    }
}
