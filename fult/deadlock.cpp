#include "deadlock.hpp"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <unistd.h>

#include "check.hpp"
#include "dump.hpp"
#include "dump_signal.hpp"
#include "sanitizer.hpp"
#include "team.hpp"

namespace fult::detail {
namespace {

// Kernel threads of the process; a large number where they cannot be counted.
unsigned count_threads() noexcept {
    DIR *all = ::opendir("/proc/self/task");
    if (!all)
        return ~0u;
    unsigned count = 0;
    while (const dirent *each = ::readdir(all))
        count += each->d_name[0] != '.' ? 1 : 0;
    ::closedir(all);
    return count;
}

// Signals that somebody else may send and that the program handles: a handler may wake a task. Not those that
// the thread's own faults raise, those of glibc, and those that ask for a report.
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

bool no_other_thread(team &crew) noexcept {
    // A thread of the pool that is seen idle has woken whom it would. One that ends while the others are
    // counted is not to be taken for another.
    const unsigned idle = crew.idle_blocking.load(std::memory_order_acquire); // pairs with blocking_pool
    const unsigned own = crew.count + crew.helpers.load(std::memory_order_relaxed) + idle;
    const unsigned there = count_threads();
    // TSan has a thread of its own from the first one on that the program makes.
    return (there == own || (sanitizer::thread && there == own + 1)) &&
           crew.idle_blocking.load(std::memory_order_acquire) == idle;
}

bool only_tasks_can_wake(team &crew) noexcept {
    return !crew.outside.expect_something() && no_other_thread(crew) && !handles_signals();
}

bool tell_deadlock(team &crew) noexcept {
    if (crew.opts.deadlock == deadlock_mode::off || crew.told_deadlock.load(std::memory_order_relaxed))
        return true;
    // All the time while this looks, every worker sleeps: who polls may have taken what is expected and not
    // have woken anybody for it yet. A thread that has ended before it was counted may have woken somebody.
    const unsigned roused = crew.roused.load(std::memory_order_seq_cst); // before settled
    const auto all_sleep = [&] {
        return crew.settled.load(std::memory_order_seq_cst) == crew.count &&
               crew.asleep.count() == crew.count && crew.roused.load(std::memory_order_seq_cst) == roused;
    };
    if (!all_sleep() || !only_tasks_can_wake(crew) || !all_sleep())
        return false;
    if (crew.told_deadlock.exchange(true, std::memory_order_relaxed))
        return true;
    warn("deadlock: every task waits, and nothing can wake one: the program has no other thread, timer, "
         "service "
         "or signal handler. FULT_DEADLOCK=off silences this, FULT_DEADLOCK=abort ends the program here");
    write_report(STDERR_FILENO);
    if (crew.opts.deadlock == deadlock_mode::abort)
        std::abort();
    return true;
}

} // namespace fult::detail
