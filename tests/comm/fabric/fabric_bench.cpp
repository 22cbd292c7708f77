// A transport alone between two processes on CPUs 0 and 1: fabric_bench [provider]...
#include <algorithm>
#include <chrono>

#include "tests/comm/fabric/ranks.hpp"
#include "tests/comm/shared/over_shared.hpp"

namespace {

using namespace fabric_ranks;

double now() {
    const auto now = std::chrono::steady_clock::now(); // time: measured, not judged
    return std::chrono::duration<double>(now.time_since_epoch()).count();
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// Spins until something is received; posts the packet again.
unsigned receive(rank_process &me) {
    std::array<event, 16> events;
    unsigned received = 0;
    const unsigned count = me.net->poll(events);
    for (unsigned i = 0; i < count; ++i)
        if (events[i].kind == event_kind::received) {
            ++received;
            me.net->post(static_cast<packet &>(*events[i].request));
        }
    return received;
}

// A measurement is made in parts, and the median and the best of them are printed: other programs disturb
// some of them.
constexpr int parts = 40;

struct figures {
    std::vector<double> seconds{}; // of one operation, for each part
    void print(const rank_process &me, const char *what, std::size_t bytes) {
        if (me.rank != 0)
            return;
        std::sort(seconds.begin(), seconds.end());
        const double median = seconds[seconds.size() / 2], best = seconds.front();
        std::printf("  %-17s %8zu B  %9.3f us %8.3f M/s %7.2f GB/s    best %9.3f us\n", what, bytes,
                    median * 1e6, 1e-6 / median, static_cast<double>(bytes) / median / 1e9, best * 1e6);
    }
};

void ping_pong(rank_process &me, std::size_t bytes, int rounds) {
    std::vector<char> data(bytes);
    const int other = 1 - me.rank;
    figures each;
    me.meet();
    for (int part = 0; part < parts; ++part) {
        const double begin = now();
        for (int i = 0; i < rounds / parts; ++i)
            for (int turn = 0; turn < 2; ++turn)
                if (turn == me.rank)
                    while (me.net->inject(other, data.data(), bytes) != outcome::done)
                        receive(me);
                else
                    while (receive(me) == 0) {
                    }
        each.seconds.push_back((now() - begin) / (rounds / parts) / 2);
    }
    each.print(me, "inject, one way", bytes);
}

void stream(rank_process &me, std::size_t bytes, int messages) {
    std::vector<char> data(bytes);
    figures each;
    me.meet();
    for (int part = 0; part < parts; ++part) {
        const double begin = now();
        if (me.rank == 0) {
            for (int i = 0; i < messages / parts; ++i)
                while (me.net->inject(1, data.data(), bytes) != outcome::done)
                    receive(me);
            while (receive(me) == 0) {
            }
        } else {
            for (int got = 0; got < messages / parts;)
                got += static_cast<int>(receive(me));
            while (me.net->inject(0, data.data(), 1) != outcome::done)
                receive(me);
        }
        each.seconds.push_back((now() - begin) / (messages / parts));
    }
    each.print(me, "inject, stream", bytes);
}

void one_sided(rank_process &me, board &shared, bool reads, std::size_t bytes, int times) {
    std::vector<char> data(bytes, 'x');
    memory m{data.data(), bytes};
    require(me.net->register_memory(m, access_rights::read_and_write), "enroll");
    if (me.rank == 1) {
        shared.values[0] = static_cast<long>(m.address);
        shared.values[1] = static_cast<long>(m.key);
    }
    me.meet();
    figures each;
    for (int part = 0; part < parts && me.rank == 0; ++part) {
        const double begin = now();
        for (int i = 0; i < times / parts; ++i) {
            transfer t;
            t.local = data.data();
            t.size = bytes;
            t.descriptor = m.descriptor;
            t.address = static_cast<std::uint64_t>(shared.values[0].load());
            t.key = static_cast<std::uint64_t>(shared.values[1].load());
            t.rank = 1;
            while ((reads ? me.net->read(t) : me.net->write(t)) != outcome::done)
                me.poll();
            while (me.happened.empty())
                me.poll();
            me.happened.clear();
        }
        each.seconds.push_back((now() - begin) / (times / parts));
    }
    each.print(me, reads ? "read" : "write", bytes);
    me.meet();
    me.net->deregister_memory(m);
}

void measure(board &shared, int rank, const way &how, bool sleep) {
    pin(rank);
    rank_process me(shared, rank, 2, how, "fult-bench-" + std::to_string(getppid()), 8192, sleep);
    const bool fast = how.scope == reach::same_host;
    if (rank == 0)
        std::printf("%s (%s, inject up to %zu B, descriptor %d)\n", how.label, me.net->name(),
                    me.net->limits().inject, me.net->descriptor());
    me.post_receives(fast ? 512 : 128);
    const int scale = fast ? 20 : 1;
    ping_pong(me, 8, 20000 * scale);
    if (fast)
        ping_pong(me, 4096, 10000 * scale);
    stream(me, 64, 50000 * scale);
    if (fast)
        stream(me, 4096, 20000 * scale);
    for (const bool reads : {true, false})
        for (const std::size_t bytes : {8UL, 4096UL, 65536UL, 1048576UL})
            one_sided(me, shared, reads, bytes, bytes > 100000 ? 500 : 5000);
    me.meet();
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
    const way ways[] = {{"shared", "", reach::same_host, true, over_shared},
                        {"shm", "shm", reach::same_host, true, open_fabric},
                        {"shm-copy", "shm", reach::same_host, false, open_fabric},
                        {"net", "net", reach::network, true, open_fabric},
                        {"rxm", "tcp;ofi_rxm", reach::network, true, open_fabric}};
    for (const way &how : ways)
        for (const bool sleep : {false, true}) {
            bool wanted = argc < 2;
            for (int i = 1; i < argc; ++i)
                wanted |= std::strcmp(argv[i], how.label) == 0;
            if (wanted && !(sleep && how.scope == reach::same_host))
                fork_ranks(2, how, [&](board &shared, int rank) { measure(shared, rank, how, sleep); });
        }
}
