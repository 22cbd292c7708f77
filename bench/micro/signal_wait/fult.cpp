#include "common/fult_version.hpp"
#include "micro/signal_wait/signal_wait.hpp"

namespace {
struct alignas(128) side {
    std::atomic<unsigned long> turn{0};
    std::atomic<std::uintptr_t> task{0};
};

// Stores its turn, signals, and waits for the other's; the first side begins.
unsigned long play_side(side &mine, side &other, bool first, int worker, unsigned long round_trips) {
    mine.task.store(fult::this_task::id().value(), std::memory_order_release);
    fult::task_id partner;
    while (!partner) { // both are there before the first turn
        partner = fult::task_id::from_value(other.task.load(std::memory_order_acquire));
        if (!partner)
            fult::this_task::yield();
    }
    unsigned long strays = 0;
    for (unsigned long k = 1; k <= round_trips; ++k) {
        if (first) {
            mine.turn.store(k, std::memory_order_release);
            fult::signal(partner);
        }
        fult::this_task::wait([&] { return other.turn.load(std::memory_order_acquire) >= k; });
        if (!first) {
            mine.turn.store(k, std::memory_order_release);
            fult::signal(partner);
        }
        strays += fult::this_task::worker() != worker;
    }
    return strays;
}

void play(unsigned long round_trips, unsigned long &strays) {
    side sides[2];
    auto a = fult::spawn_pinned(0, [&] { return play_side(sides[0], sides[1], true, 0, round_trips); });
    auto b = fult::spawn_pinned(1, [&] { return play_side(sides[1], sides[0], false, 1, round_trips); });
    strays += a.join();
    strays += b.join();
}
} // namespace

int main(int argc, char **argv) { return bench::signal_wait_main(argc, argv, bench::fult_version, play); }
