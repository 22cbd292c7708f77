// A call that blocks and does nothing: from the task to a thread of the pool and back; beside two kernel
// threads that pass a turn to each other and back by a condition variable.
#include <condition_variable>
#include <mutex>
#include <thread>

#include <fult/blocking.hpp>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"

namespace {
using namespace bench;

double hand_off_us(unsigned count) {
    std::mutex lock;
    std::condition_variable changed;
    int turn = 0;
    const auto side = [&](int mine) {
        for (unsigned i = 0; i < count; ++i) {
            std::unique_lock held(lock);
            changed.wait(held, [&] { return turn == mine; });
            turn = 1 - mine;
            changed.notify_one();
        }
    };
    double taken = 0;
    std::thread first([&] { taken = timed([&] { side(0); }); });
    std::thread second([&] { side(1); });
    first.join();
    second.join();
    return taken * 1e6 / count;
}

std::string one_round(unsigned workers, unsigned count, double reference) {
    unsigned long sum = 0;
    const double taken = timed([&] {
        fult::spawn([&] {
            for (unsigned i = 0; i < count; ++i)
                sum += fult::run_blocking([i] { return i; });
        }).join();
    });
    report({"blocking", "round trip", "fult", workers, taken * 1e6 / count, "us"},
           "two threads and a condition variable", reference);
    return sum == (count - 1UL) * count / 2 ? "" : "a call was lost";
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    unsigned count = 20000;
    arguments line("blocking: round trip of a call to a thread that may block, microseconds.");
    line.option("-n,--size", count, "calls");
    settings.declare(line);
    line.parse(argc, argv);
    const double reference = hand_off_us(count); // before workers are there
    return run_micro("blocking", fult_version, settings,
                     [&] { return one_round(settings.workers, count, reference); });
}
