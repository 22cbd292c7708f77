#include "oracle.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <fult/detail/stillness.hpp>
#include <fult/inspect.hpp>

namespace random_programs {
namespace {

std::mutex announcing;
std::string announced; // what runs now
std::atomic<std::uint64_t> move_count{0};

} // namespace

void announce(const std::string &how_to_repeat) {
    const std::lock_guard lock(announcing);
    announced = how_to_repeat;
}

void fail(const char *format, ...) noexcept {
    static std::mutex once; // the first one reports and ends the process; others wait for that
    once.lock();
    std::va_list values;
    va_start(values, format);
    char text[512];
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    announcing.lock();
    std::fprintf(stdout, "FAILED: %s\nrepeat: %s\n", text, announced.c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "random-programs: %s\nrandom-programs: repeat: %s\n", text, announced.c_str());
    fult::dump_tasks(stderr);
    std::fflush(stderr);
    ::_exit(1);
}

void moved() noexcept { move_count.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t moves() noexcept { return move_count.load(std::memory_order_relaxed); }

struct watchdog::state {
    std::mutex lock;
    std::condition_variable ended;
    bool over = false;
    std::thread thread;

    // The limit is counted in pieces that were really slept, so that a process that was stopped meanwhile is
    // not blamed.
    void watch(unsigned seconds) {
        std::unique_lock hold(lock);
        std::uint64_t seen = moves();
        for (unsigned still = 0; !over;) {
            // time: between polls
            if (ended.wait_for(hold, std::chrono::seconds(1), [this] { return over; }))
                return;
            const std::uint64_t now = moves();
            still = now == seen ? still + 1 : 0;
            seen = now;
            if (still >= seconds)
                fail("no act and no task has ended for %u seconds", seconds);
        }
    }
};

watchdog::watchdog(unsigned seconds) : state_(std::make_unique<state>()) {
    state_->thread = std::thread([s = state_.get(), seconds] {
        fult::detail::know_thread(::gettid()); // it wakes no task: deadlocks would be found
        s->watch(seconds);
        fult::detail::forget_thread(::gettid());
    });
}

watchdog::~watchdog() {
    {
        const std::lock_guard hold(state_->lock);
        state_->over = true;
    }
    state_->ended.notify_one();
    state_->thread.join();
}

ledger::ticket ledger::issue(bool may_drop) noexcept {
    const ticket t = issued_.fetch_add(1, std::memory_order_relaxed);
    check(t < most, "the program itself is too large: %u tasks", most);
    entries_[t].store(may_drop ? optional : expected, std::memory_order_relaxed);
    return t;
}

void ledger::cancel(ticket t) noexcept {
    check(entries_[t].exchange(cancelled, std::memory_order_relaxed) != has_run,
          "task %u runs although its spawn has thrown", t);
}

void ledger::runs(ticket t) noexcept {
    const auto before = entries_[t].exchange(has_run, std::memory_order_relaxed);
    check(before == expected || before == optional, "task %u runs %s", t,
          before == has_run ? "a second time" : "although it was not spawned");
    moved();
}

void ledger::close() const noexcept {
    for (ticket t = 0; t < issued(); ++t)
        check(entries_[t].load(std::memory_order_relaxed) != expected, "task %u has never run", t);
}

} // namespace random_programs
