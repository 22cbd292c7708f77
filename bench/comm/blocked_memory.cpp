// A million tasks of a rank, all blocked in recv: resident memory of each. Then each gets its message.
#include <atomic>

#include "comm/fult_connection.hpp"
#include "common/memory.hpp"

namespace {
using namespace bench;

void show(const char *name, double value, const char *unit) {
    report({"comm_blocked_memory", name, connection::version, connection::workers(), value, unit});
}

void wait_for_all(connection &here, unsigned long n) {
    std::atomic<unsigned long> blocked{0}, right{0};
    auto function = [&](unsigned long k) {
        blocked.fetch_add(1, std::memory_order_relaxed);
        std::uint64_t word = 0;
        here.recv(&word, sizeof word, unsigned(k) + 1);
        right.fetch_add(word == k * 3, std::memory_order_relaxed);
    };
    std::vector<decltype(fult::spawn(function, 0UL))> all(n); // touched before the count begins
    const double before = resident_bytes(), start = now();
    for (unsigned long k = 0; k < n; ++k)
        all[k] = fult::spawn(function, k);
    while (blocked.load(std::memory_order_relaxed) < n)
        fult::this_task::yield();
    const double all_blocked = now();
    const double held = (resident_bytes() - before) / 1024 / double(n);
    here.agree(n); // the other rank begins to send
    fult::join_all(all);
    const double end = now();
    if (right.load() != n)
        wrong(std::to_string(right.load()) + " of " + std::to_string(n) + " tasks got their message");
    show("blocked", held, "KiB");
    show("spawn and block", (all_blocked - start) * 1e9 / double(n), "ns");
    show("receive and join", (end - all_blocked) * 1e9 / double(n), "ns");
}

void send_all(connection &here, unsigned long n) {
    here.agree(0);
    for (unsigned long k = 0; k < n; ++k) {
        const std::uint64_t word = k * 3;
        here.send(&word, sizeof word, unsigned(k) + 1);
    }
}
} // namespace

int main(int argc, char **argv) {
    unsigned long n = 1'000'000;
    arguments line("comm_blocked_memory: resident memory of tasks that are all blocked in recv.");
    line.option("-n,--tasks", n, "number of tasks");
    line.parse(argc, argv);
    if (n == 0)
        arguments::fail("at least one task is needed");
    connection here(true);
    if (here.rank() == 0)
        wait_for_all(here, n);
    else
        send_all(here, n);
}
