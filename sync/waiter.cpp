#include <optional>
#include <sched.h>

#include <fult/sync/waiter.hpp>
#include <fult/this_task.hpp>

#include "fult/fork_guard.hpp"
#include "fult/suspend.hpp"
#include "fult/worker.hpp"
#include "futex.hpp"
#include "timer.hpp"

namespace fult::detail {
namespace {

task_id running_on(const worker *w) noexcept { return w && w->current ? to_id(w->current) : task_id(); }

// Looks of a foreign thread before it sleeps in the kernel: about a microsecond.
constexpr unsigned thread_looks = 50;

} // namespace

void short_lock::lock_slow() noexcept {
    for (unsigned tries = 1;; ++tries) {
        if (held_.load(std::memory_order_relaxed) == 0 && held_.exchange(1, std::memory_order_acquire) == 0)
            return; // pairs with unlock
        if (tries % 64 == 0) {
            check_not_forked(); // the holder is not here
            ::sched_yield();    // it may have lost its core
        } else
            cpu_relax();
    }
}

wait_limits::wait_limits(steady_clock::time_point deadline) : timed_(true), deadline_(deadline) {
    if (in_task())
        open_timers();
}
wait_limits::wait_limits(const std::stop_token &stop, steady_clock::time_point deadline)
    : wait_limits(deadline) {
    stop_ = &stop;
}

// Where its worker has something else to run it will not poll, and is parked before anybody can see it: one
// atomic operation fewer.
waiter::waiter() noexcept : waiter(this_worker()) {}

waiter::waiter(worker *here) noexcept
    : state_(here && here->current && here->has_own_work() ? parked : polling), who_(running_on(here)) {}

waiter::waiter(as_it_comes) noexcept : who_(running_on(this_worker())) {}

// The grant often comes soon: then no switch is needed, and the granter signals nobody.
bool waiter::poll() noexcept {
    if (state_.load(std::memory_order_relaxed) == parked)
        return false;
    if (who_) {
        poller poll;
        while (poll.step())
            for (unsigned i = 0; i < poller::looks; ++i)
                if (is_granted())
                    return true;
    } else {
        for (unsigned i = 0; i < thread_looks && !is_granted(); ++i)
            cpu_relax();
    }
    return is_granted();
}

void waiter::wait_on_thread(const steady_clock::time_point *deadline) noexcept {
    check_not_forked(); // nobody is there to grant it
    futex_wait(state_, parked, deadline);
}

// Whether it was granted.
bool waiter::suspend_while_parked(const wait_limits &limits, const waiting_for &what) noexcept {
    std::uint32_t seen = state_.load(std::memory_order_acquire);
    if (seen == polling)
        state_.compare_exchange_strong(seen, parked, std::memory_order_seq_cst); // pairs with grant and nudge
    if (seen == granted)
        return true;
    const steady_clock::time_point *deadline = nullptr;
    steady_clock::time_point until;
    if (!who_ && limits.timed()) {
        until = limits.deadline();
        deadline = &until;
    }
    const wait_note note(who_ ? to_task(who_) : nullptr, what, true);
    while (state_.load(std::memory_order_acquire) == parked && // pairs with grant
           !nudged_.load(std::memory_order_seq_cst)) {         // pairs with nudge
        if (who_)
            suspend_until_signaled(false);
        else
            wait_on_thread(deadline);
        if (deadline && limits.reached())
            break;
    }
    if (is_granted())
        return true;
    seen = parked;
    state_.compare_exchange_strong(seen, polling, std::memory_order_seq_cst);
    return is_granted();
}

void waiter::wait(const waiting_for &what) noexcept {
    if (!is_granted() && !poll())
        wait_at_once(what);
}

// Nobody nudges it: limits that it may have had before are gone.
void waiter::wait_at_once(const waiting_for &what) noexcept {
    std::uint32_t seen = polling;
    if (state_.load(std::memory_order_relaxed) == polling &&
        !state_.compare_exchange_strong(seen, parked, std::memory_order_seq_cst)) // pairs with grant
        return;
    if (!who_) {
        while (!is_granted())
            wait_on_thread(nullptr);
        return;
    }
    const wait_note note(to_task(who_), what);
    while (!is_granted())
        suspend_until_signaled(false);
}

bool waiter::wait(const wait_limits &limits, const waiting_for &what) {
    if (is_granted())
        return true;
    if (limits.reached())
        return false;
    if (limits.none()) {
        wait(what);
        return true;
    }
    return poll() || wait_long(limits, what);
}

bool waiter::wait_long(const wait_limits &limits, const waiting_for &what) {
    if (limits.reached())
        return is_granted();
    std::optional<timed_nudge> alarm;
    if (who_ && limits.timed())
        alarm.emplace(*this, limits.deadline());
    const auto on_stop = [this] { nudge(); };
    std::optional<std::stop_callback<decltype(on_stop)>> stop;
    if (limits.stop())
        stop.emplace(*limits.stop(), on_stop);
    for (;;) {
        if (suspend_while_parked(limits, what))
            return true;
        nudged_.exchange(false, std::memory_order_seq_cst); // first: a nudge from here on counts
        if ((alarm && alarm->is_over()) || limits.reached())
            return false;
    }
}

void waiter::wake_up(task_id who) noexcept {
    if (who)
        post_signal(who);
    else
        futex_wake(&state_);
}

// Whether it must be woken. Afterwards the waiter may be gone.
bool waiter::change_to_granted() noexcept {
    if (!stays_)
        return state_.exchange(granted, std::memory_order_seq_cst) ==
               parked;                                // pairs with suspend_while_parked
    state_.store(granted, std::memory_order_release); // pairs with suspend_while_parked
    return true;
}

void waiter::grant() noexcept {
    const task_id who = who_;
    if (change_to_granted())
        wake_up(who);
}

// Null where nothing is left to do: it polls, or was signaled.
task *waiter::grant_claimed(worker *here) noexcept {
    const task_id who = who_;
    if (!change_to_granted())
        return nullptr;
    if (here && who)
        return here->claim_or_signal(who);
    wake_up(who);
    return nullptr;
}

void waiter::grant_next() noexcept {
    worker *here = this_worker();
    if (task *claimed = grant_claimed(here))
        here->hand(claimed, claimed);
}

void waiter::nudge() noexcept {
    nudged_.store(true, std::memory_order_seq_cst); // pairs with suspend_while_parked
    std::uint32_t seen = parked;
    if (state_.compare_exchange_strong(seen, polling, std::memory_order_seq_cst))
        wake_up(who_);
}

void wait_chain::grant() noexcept {
    waiter *w = first_;
    first_ = last_ = nullptr;
    while (w) {
        waiter *next = w->next; // a granted waiter is gone
        w->grant();
        w = next;
    }
}

void wait_chain::grant_here() noexcept {
    waiter *w = first_;
    first_ = last_ = nullptr;
    worker *here = this_worker();
    task *newest = nullptr, *oldest = nullptr;
    while (w) {
        waiter *next = w->next; // a granted waiter is gone
        if (task *claimed = w->grant_claimed(here)) {
            claimed->next.store(newest, std::memory_order_relaxed);
            newest = claimed;
            oldest = oldest ? oldest : claimed;
        }
        w = next;
    }
    if (newest)
        here->hand(newest, oldest);
}

} // namespace fult::detail
