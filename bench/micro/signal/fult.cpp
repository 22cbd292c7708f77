// A signal alone, to a task that computes on another worker and does not wait: nanoseconds, beside an atomic
// OR on a line that no other thread uses.
#include <atomic>
#include <thread>

#include "common/fult_version.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"
#include "common/references.hpp"

namespace {
using namespace bench;

std::string one_round(unsigned workers) {
    std::atomic<std::uintptr_t> target{0};
    std::atomic<bool> stop{false};
    auto busy = fult::spawn_pinned(1, [&] {
        target.store(fult::this_task::id().value(), std::memory_order_release);
        while (!stop.load(std::memory_order_relaxed)) {
        }
        return fult::this_task::worker();
    });
    while (target.load(std::memory_order_acquire) == 0)
        fult::this_task::yield();
    const auto task = fult::task_id::from_value(target.load());
    const double alone = fetch_or_ns();
    const double value = nanoseconds_each(1'000'000, [task] { fult::signal(task); });
    stop.store(true);
    if (busy.join() != 1)
        return "the signaled task was not on the other worker";
    report({"signal", "to a busy worker", "fult", workers, value, "ns"}, "uncontended fetch_or", alone);
    return {};
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    arguments line("signal: a signal alone to a task that computes on another worker, nanoseconds.");
    settings.declare(line);
    line.parse(argc, argv);
    if (settings.workers < 2 || usable_processors().size() < 2)
        arguments::fail("two workers and two processors are needed");
    return run_micro("signal", fult_version, settings, [&] { return one_round(settings.workers); });
}
