// How late a sleeping task resumes: microseconds after its deadline, the median and the 99th of a hundred.
// Alone in a runtime that sleeps with it, beside a kernel thread that sleeps for as long; and beside tasks
// that yield all the time.
#include <atomic>
#include <sys/prctl.h>
#include <thread>
#include <vector>

#include <fult/sync.hpp>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"

namespace {
using namespace bench;
using clock_type = std::chrono::steady_clock;

struct lateness {
    std::vector<double> microseconds;
    template <class Sleep> void measure(unsigned count, Sleep sleep) {
        for (unsigned i = 0; i < count; ++i) {
            const auto until = clock_type::now() + std::chrono::microseconds(500 + i * 37 % 1500);
            sleep(until);
            microseconds.push_back(
                std::chrono::duration<double, std::micro>(clock_type::now() - until).count());
        }
    }
    double at(double part) {
        std::sort(microseconds.begin(), microseconds.end());
        return microseconds[static_cast<std::size_t>(part * double(microseconds.size() - 1))];
    }
};

std::string one_round(unsigned workers, unsigned count) {
    lateness thread;
    std::thread([&] {
        ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // as a worker does that sleeps for a deadline
        thread.measure(count, [](auto until) { std::this_thread::sleep_until(until); });
    }).join();

    lateness alone;
    fult::spawn([&] {
        alone.measure(count, [](auto until) { fult::this_task::sleep_until(until); });
    }).join();

    lateness busy;
    std::atomic<bool> over{false};
    std::vector<fult::handle<void>> others;
    for (unsigned i = 0; i < 4 * workers; ++i)
        others.push_back(fult::spawn([&] {
            while (!over.load(std::memory_order_relaxed)) {
                const double until = now() + 10e-6;
                while (now() < until)
                    ;
                fult::this_task::yield();
            }
        }));
    fult::spawn([&] {
        busy.measure(count, [](auto until) { fult::this_task::sleep_until(until); });
        over = true;
    }).join();
    fult::join_all(others);

    const char *reference = "a kernel thread's sleep";
    report({"sleep_accuracy", "alone, median", "fult", workers, alone.at(0.5), "us late"}, reference,
           thread.at(0.5));
    report({"sleep_accuracy", "alone, 99 of 100", "fult", workers, alone.at(0.99), "us late"}, reference,
           thread.at(0.99));
    report({"sleep_accuracy", "beside 10 us tasks, median", "fult", workers, busy.at(0.5), "us late"});
    report({"sleep_accuracy", "beside 10 us tasks, 99 of 100", "fult", workers, busy.at(0.99), "us late"});
    return alone.at(0) >= 0 && busy.at(0) >= 0 ? "" : "a task slept too short";
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    unsigned count = 300;
    arguments line("sleep_accuracy: how late sleeping tasks resume, microseconds.");
    line.option("-n,--size", count, "sleeps");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("sleep_accuracy", fult_version, settings,
                     [&] { return one_round(settings.workers, count); });
}
