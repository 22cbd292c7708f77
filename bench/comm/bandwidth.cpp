// Windows of 64 messages one way, then a word back. Megabytes (10^6) a second (the pattern of osu_bw: one
// buffer for all messages of a window).
#include "comm/connection.hpp"

namespace {
using namespace bench;

void windows(connection &here, std::span<std::byte> bytes, std::vector<connection::request> &all,
             unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; ++i) {
        std::uint64_t word = i;
        if (here.rank() == 0) {
            stamp(bytes, i);
            for (auto &each : all)
                each = here.isend(bytes.data(), bytes.size(), 1);
            connection::wait_all(all);
            here.recv(&word, sizeof word, 2);
            if (word != i)
                wrong("the word after a window");
        } else {
            for (auto &each : all)
                each = here.irecv(bytes.data(), bytes.size(), 1);
            connection::wait_all(all);
            check(bytes, i);
            here.send(&word, sizeof word, 2);
        }
    }
}
} // namespace

int main(int argc, char **argv) {
    unsigned long one = 0, window = 64;
    patience wanted;
    arguments line(
        "comm_bandwidth: windows of messages from one rank to another, MB (10^6 bytes) per second.");
    line.option("--size", one, "bytes of a message; 0: 64 KiB to 4 MiB");
    line.option("--window", window, "messages under way at once");
    wanted.declare(line);
    line.parse(argc, argv);
    const auto sizes = sizes_or(one, bandwidth_sizes);
    if (window == 0)
        arguments::fail("a window has one message at least");
    connection here(false);
    std::vector<connection::request> all(window);
    for (const unsigned long size : sizes) {
        std::vector<std::byte> bytes(size);
        const double round =
            seconds_a_round(here, wanted, [&](unsigned long rounds) { windows(here, bytes, all, rounds); });
        if (here.rank() == 0)
            report({"comm_bandwidth", size_text(size), connection::version, connection::workers(),
                    double(window) * double(size) / round / 1e6, "MB/s"});
    }
}
