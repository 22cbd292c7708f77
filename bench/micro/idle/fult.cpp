// The cost of an idle runtime: processor time over a second, in percent of one core, after a
// tenth of a second. Every worker is idle: the main task is blocked too, until a thread from outside signals
// it.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"
#include "common/processor_time.hpp"

namespace {
using namespace bench;

std::string one_round(unsigned workers) {
    using namespace std::chrono_literals;
    // All workers have had work before.
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < static_cast<int>(workers); ++i)
        tasks.push_back(fult::spawn_on(i, [] { fult::this_task::yield(); }));
    fult::join_all(tasks);

    const fult::task_id me = fult::this_task::id();
    std::atomic<bool> over{false};
    double used = 0, passed = 0;
    std::thread observer([&] {
        std::this_thread::sleep_for(100ms);
        const double used_before = processor_seconds(), before = now();
        std::this_thread::sleep_for(1s);
        used = processor_seconds() - used_before;
        passed = now() - before;
        over.store(true, std::memory_order_release);
        fult::signal(me);
    });
    while (!over.load(std::memory_order_acquire))
        fult::this_task::wait();
    observer.join();
    report({"idle", "after 100 ms", "fult", workers, 100 * used / passed, "% of a core"});
    return {};
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    arguments line("idle: processor time of a runtime that has nothing to do, percent of a core.");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("idle", fult_version, settings, [&] { return one_round(settings.workers); });
}
