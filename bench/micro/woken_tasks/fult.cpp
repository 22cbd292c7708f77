// 32 blocked tasks are signaled at once, and each then computes for 20 ms: those that one worker has claimed
// must stay within the other's reach. Beside it: two threads that do half of the work each.
#include <algorithm>
#include <atomic>
#include <vector>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"
#include "common/raw_threads.hpp"

namespace {
using namespace bench;

constexpr unsigned count = 32;
constexpr double task_ms = 20;

std::string one_round(unsigned workers) {
    const busy_work work(task_ms), half(count * task_ms / 2);
    const double ideal = on_threads(2, [&](unsigned) { half(); });
    std::atomic<bool> open{false};
    std::atomic<unsigned> blocked{0};
    std::vector<int> ran_on(count);
    std::vector<fult::handle<void>> tasks;
    for (unsigned i = 0; i < count; ++i)
        tasks.push_back(fult::spawn([&, i] {
            blocked.fetch_add(1);
            while (!open.load(std::memory_order_acquire))
                fult::this_task::wait();
            work();
            ran_on[i] = fult::this_task::worker() + 1;
        }));
    while (blocked.load() < count)
        fult::this_task::yield();
    const double seconds = timed([&] {
        open.store(true, std::memory_order_release);
        for (auto &each : tasks)
            fult::signal(each.id());
        fult::join_all(tasks);
    });
    if (std::count(ran_on.begin(), ran_on.end(), 0) > 0)
        return "a task has not run";
    report({"woken_tasks", "32 x 20 ms", "fult", workers, seconds * 1e3, "ms"}, "two threads", ideal * 1e3);
    return {};
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    arguments line("woken_tasks: tasks that are woken together and then compute, milliseconds.");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("woken_tasks", fult_version, settings, [&] { return one_round(settings.workers); });
}
