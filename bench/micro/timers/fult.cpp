// A million deadlines, set and fired: the queue of one worker alone, with a simulated clock; the
// same set and cancelled; and tasks that sleep, processor time for each from its sleep to its end.
#include <atomic>
#include <ctime>
#include <memory>
#include <random>

#include <fult/sync.hpp>

#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"
#include "common/processor_time.hpp"
#include "common/references.hpp"
#include "fult/scheduler/timer_queue.hpp"

namespace {
using namespace bench;
using fult::detail::timer_entry;
using fult::detail::timer_queue;

constexpr std::int64_t second = 1'000'000'000;

struct timers_of {
    explicit timers_of(std::size_t count) : entries(new timer_entry[count]), size(count) {
        std::mt19937_64 random(1);
        for (std::size_t i = 0; i < count; ++i)
            entries[i].deadline = start + static_cast<std::int64_t>(random() % second);
    }
    static constexpr std::int64_t start = 1000 * second;
    std::unique_ptr<timer_entry[]> entries;
    std::size_t size;
};

// Seconds of this thread.
template <class Body> double processor_timed(Body &&body) {
    const auto used = [] {
        timespec t{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
    };
    const double before = used();
    body();
    return used() - before;
}

// A worker checks every few microseconds.
std::string set_and_fire(std::size_t count) {
    const timers_of all(count);
    auto queue = std::make_unique<timer_queue>();
    queue->advance(timers_of::start);
    std::size_t fired = 0;
    bool in_time = true;
    const double taken = processor_timed([&] {
        for (std::size_t i = 0; i < count; ++i)
            queue->insert(all.entries[i]);
        for (std::int64_t now = timers_of::start; fired < count; now += 5000)
            while (const timer_entry *e = queue->pop(now)) {
                in_time = in_time && e->deadline <= now && e->deadline > now - 5001;
                ++fired;
            }
    });
    report({"timers", "set and fired", "fult", 1, taken * 1e9 / double(count), "ns each"});
    return in_time && fired == count ? "" : "a deadline came early or late";
}

std::string set_and_cancel(std::size_t count) {
    const timers_of all(count);
    auto queue = std::make_unique<timer_queue>();
    queue->advance(timers_of::start);
    const double taken = processor_timed([&] {
        for (std::size_t i = 0; i < count; ++i)
            queue->insert(all.entries[i]);
        for (std::size_t i = 0; i < count; ++i)
            queue->remove(all.entries[(i * 7919) % count]);
    });
    report({"timers", "set and cancelled", "fult", 1, taken * 1e9 / double(count), "ns each"});
    return queue->earliest() == timer_queue::never ? "" : "something is left";
}

std::string sleeping_tasks(unsigned workers, std::size_t count) {
    std::atomic<std::size_t> early{0};
    std::vector<fult::handle<void>> tasks;
    tasks.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        tasks.push_back(fult::spawn([] {}));
    fult::join_all(tasks);
    tasks.clear();
    const double before = processor_seconds();
    const auto from = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < count; ++i)
        tasks.push_back(fult::spawn([&, i] {
            const auto until =
                from + std::chrono::nanoseconds(second / 2 + std::int64_t(i * 7919 % count) * 3000);
            fult::this_task::sleep_until(until);
            if (std::chrono::steady_clock::now() < until)
                ++early;
        }));
    fult::join_all(tasks);
    const double used = processor_seconds() - before;
    report(
        {"timers", "tasks that sleep", "fult", workers, used * 1e9 / double(count), "ns of processor time"});
    return early == 0 ? "" : "a task slept too short";
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    settings.workers = 2;
    unsigned long count = 1'000'000, tasks = 100'000;
    arguments line("timers: a million deadlines set and fired, nanoseconds each.");
    line.option("-n,--size", count, "deadlines");
    line.option("--tasks", tasks, "sleeping tasks");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("timers", fult_version, settings, [&] {
        std::string wrong = set_and_fire(count);
        if (wrong.empty())
            wrong = set_and_cancel(count);
        return wrong.empty() ? sleeping_tasks(settings.workers, tasks) : wrong;
    });
}
