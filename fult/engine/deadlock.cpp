#include "deadlock.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <mutex>
#include <unistd.h>

#include <fult/detail/misuse.hpp>

#include "fult/base/check.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/inspection/dump.hpp"
#include "fult/inspection/dump_signal.hpp"
#include "fult/scheduler/long_sleep.hpp"
#include "fult/scheduler/team.hpp"

namespace fult::detail {
namespace {

// Kernel threads that wake no task by themselves, and so do not count as the program's. Few.
class thread_list {
  public:
    bool add(pid_t thread) noexcept { return exchange(0, thread); }
    void remove(pid_t thread) noexcept { exchange(thread, 0); }
    bool contains(pid_t thread) const noexcept {
        for (const auto &each : threads_)
            if (each.load(std::memory_order_acquire) == thread)
                return true;
        return false;
    }

  private:
    bool exchange(pid_t before, pid_t now) noexcept {
        for (auto &each : threads_)
            if (pid_t seen = before; each.compare_exchange_strong(seen, now, std::memory_order_acq_rel))
                return true;
        return false;
    }
    std::atomic<pid_t> threads_[64]{};
};
constinit thread_list known_threads;

// The number of kernel threads not registered by know_thread; a large number if they cannot be counted.
unsigned count_threads() noexcept {
    DIR *all = ::opendir("/proc/self/task");
    if (!all)
        return ~0u;
    unsigned count = 0;
    while (const dirent *each = ::readdir(all))
        count += each->d_name[0] != '.' && !known_threads.contains(std::atoi(each->d_name)) ? 1 : 0;
    ::closedir(all);
    return count;
}

// TSan has a thread of its own as soon as the program has created one.
bool is_count(unsigned there, unsigned own) noexcept {
    return there == own || (sanitizer::thread && there == own + 1);
}

// Signals from outside that the program handles: a handler may wake a task. Excludes signals raised by the
// thread's own faults, those of glibc, and those that request a report.
bool handles_signals() noexcept {
    std::uint64_t caught = ~std::uint64_t{0};
    if (std::FILE *status = std::fopen("/proc/self/status", "re")) {
        char line[256];
        while (std::fgets(line, sizeof line, status))
            if (unsigned long long mask; std::sscanf(line, "SigCgt: %llx", &mask) == 1)
                caught = mask;
        std::fclose(status);
    }
    const auto bit = [](int number) { return std::uint64_t{1} << (number - 1); };
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, 32, 33})
        caught &= ~bit(number);
    for (int number = 1; number <= 64; ++number)
        if ((caught & bit(number)) != 0 && is_dump_signal(number))
            caught &= ~bit(number);
    return caught != 0;
}

} // namespace

bool no_other_thread(worker_team &team) noexcept {
    // A thread of the pool that is idle has made all its wake-ups. One that ends during the count must not be
    // mistaken for another.
    const unsigned idle = team.idle_blocking.load(std::memory_order_acquire); // pairs with blocking_pool
    const unsigned own = team.count() + team.helpers.load(std::memory_order_relaxed) + idle;
    return is_count(count_threads(), own) && team.idle_blocking.load(std::memory_order_acquire) == idle;
}

bool only_tasks_can_wake(worker_team &team) noexcept {
    return !team.services.may_wake_any_unjudged() && no_other_thread(team) && !handles_signals();
}

bool is_left_by_program(bool worker_0_ended) noexcept {
    const team_guard stays;
    worker_team *const team = running_team();
    if (!team)
        return is_count(count_threads(), 1); // the entry of the initial thread stays
    const unsigned ended = worker_0_ended ? 1 : 0;
    const unsigned idle = team->idle_blocking.load(std::memory_order_acquire); // pairs with blocking_pool
    const unsigned own = team->count() + team->helpers.load(std::memory_order_relaxed) + idle;
    return team->sleepers.count() == team->count() - ended && is_count(count_threads(), own + 1 - ended) &&
           team->sleepers.count() == team->count() - ended;
}

// Check of the process --------------------------------------------------------------------------------------

// Every worker must sleep during the whole check: a worker that polls may have taken an expected event
// without having woken a task yet. A thread that ended before it was counted may have woken a task.
stillness::stillness() noexcept : team_(running_team()) {
    if (!team_)
        return;
    unparked_ = team_->unparked.load(std::memory_order_seq_cst); // before long_asleep
    is_still_ =
        team_->judges.load(std::memory_order_acquire) <= 1 && all_sleep() && only_tasks_can_wake(*team_);
}

bool stillness::all_sleep() const noexcept {
    return team_->long_asleep.load(std::memory_order_seq_cst) == team_->count() &&
           team_->sleepers.count() + team_->short_sleepers.count() == team_->count() &&
           team_->unparked.load(std::memory_order_seq_cst) == unparked_;
}

bool stillness::lasts() const noexcept { return is_still_ && all_sleep(); }

// Judges ----------------------------------------------------------------------------------------------------

void add_judge(deadlock_judge &judge) noexcept {
    worker_team *team = running_team();
    if (!team)
        return;
    const std::lock_guard guard(team->judging);
    if (team->judges.fetch_add(1, std::memory_order_acq_rel) == 0)
        team->judge = &judge;
}

void remove_judge(deadlock_judge &judge) noexcept {
    worker_team *team = running_team();
    if (!team)
        return;
    const std::lock_guard guard(team->judging);
    if (team->judge == &judge)
        team->judge = nullptr; // another judge has not been asked so far, and never will be
    team->judges.fetch_sub(1, std::memory_order_acq_rel);
}

bool know_thread(pid_t thread) noexcept { return known_threads.add(thread); }
void forget_thread(pid_t thread) noexcept { known_threads.remove(thread); }

// Reports ---------------------------------------------------------------------------------------------------

deadlock_mode deadlock_wanted() noexcept {
    const worker_team *team = running_team();
    return team && !team->deadlock_reported.load(std::memory_order_relaxed) ? team->opts.deadlock
                                                                            : deadlock_mode::off;
}

int first_deadlock_look() noexcept {
    const worker_team *team = running_team();
    return team ? long_sleep::begins_after(*team) : look_without_trim;
}

bool report_deadlock(const char *text) noexcept {
    worker_team *team = running_team();
    if (!team || team->deadlock_reported.exchange(true, std::memory_order_relaxed))
        return false;
    warn("%s. FULT_DEADLOCK=off silences this, FULT_DEADLOCK=abort ends the program here", text);
    write_report(STDERR_FILENO);
    warn("how to read this, and what to look for: docs/debugging.md, \"My program hangs\"");
    return true;
}

bool report_deadlock(worker_team &team) noexcept {
    if (team.opts.deadlock == deadlock_mode::off || team.deadlock_reported.load(std::memory_order_relaxed))
        return true;
    const stillness look;
    if (!look.lasts())
        return false;
    if (team.judges.load(std::memory_order_acquire) != 0) {
        const std::lock_guard guard(team.judging);
        if (team.judge)
            team.judge->all_wait();
        return false;
    }
    if (!look.lasts()) // the last judge may have been removed
        return false;
    if (report_deadlock(
            "deadlock: every task waits, and nothing can wake one: the program has no other thread, "
            "timer, service or signal handler") &&
        team.opts.deadlock == deadlock_mode::abort)
        abort_reported();
    return true;
}

} // namespace fult::detail
