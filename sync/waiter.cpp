#include <limits>
#include <optional>

#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/waiter.hpp>
#include <fult/this_task.hpp>

#include "fult/base/futex.hpp"
#include "fult/scheduler/parker.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/thread_waits.hpp"
#include "fult/scheduler/worker.hpp"
#include "timer.hpp"

namespace fult::detail {
namespace {

task_id running_on(const worker *w) noexcept { return w && w->current ? to_id(w->current) : task_id(); }

// No task: a foreign thread calls. A task above a tied one is pinned once it has suspended (way_home.hpp).
[[maybe_unused]] bool is_running(task_id who) noexcept {
    const task_id here = running_on(this_worker());
    return (who ? to_task(who) : nullptr) == (here ? to_task(here) : nullptr);
}

// Polls of a foreign thread before it sleeps in the kernel: about a microsecond.
constexpr unsigned thread_spin_iterations = 50;

} // namespace

bool let_others_run_sometimes() noexcept {
    worker *w = this_worker();
    return w && w->current && !w->no_suspension_in_spawn && w->decisions.count_failure() && let_others_run();
}

wait_limits::wait_limits(steady_clock::time_point deadline) : timed_(true), deadline_(deadline) {
    if (worker *const here = this_worker(); here && here->current)
        here->team.timers.open(here->team);
}
wait_limits::wait_limits(const std::stop_token &stop, steady_clock::time_point deadline)
    : wait_limits(deadline) {
    stop_ = &stop;
}

// If its worker has other tasks, the waiter will not poll, and starts as suspended, before other threads can
// see it: that saves an atomic operation.
waiter::waiter() noexcept : waiter(this_worker()) {}

waiter::waiter(worker *here) noexcept
    : state_(here && here->current && here->has_own_work() ? suspended : polling), who_(running_on(here)) {}

waiter::waiter(as_it_comes) noexcept : who_(running_on(this_worker())) {}

// Polls for the grant, which often comes soon: this avoids the switch and the signal.
bool waiter::poll() noexcept {
    if (state_.load(std::memory_order_relaxed) == suspended)
        return false;
    if (who_) {
        poller poll;
        while (poll.step())
            for (unsigned i = 0; i < poller::looks_per_step; ++i)
                if (is_granted())
                    return true;
    } else {
        for (unsigned i = 0; i < thread_spin_iterations && !is_granted(); ++i)
            cpu_relax();
    }
    return is_granted();
}

// The wait of a foreign thread.
class waiter::on_thread final : public thread_wait {
  public:
    on_thread(std::atomic<std::uint32_t> &state, const steady_clock::time_point *deadline) noexcept
        : state_(state), deadline_(deadline) {}

    bool is_asleep() const noexcept override {
        return state_.load(std::memory_order_acquire) == suspended; // pairs with grant
    }
    void sleep() noexcept override { futex_wait(state_, suspended, deadline_); }
    bool begin_sleep_at_bell() noexcept override { return change(suspended, at_bell); }
    void end_sleep_at_bell() noexcept override { change(at_bell, suspended); }
    bool unpark() noexcept override {
        if (!change(suspended, polling))
            return false;
        futex_wake(&state_);
        return true;
    }
    std::int64_t deadline() const noexcept override {
        return deadline_ ? std::chrono::duration_cast<std::chrono::nanoseconds>(deadline_->time_since_epoch())
                               .count()
                         : std::numeric_limits<std::int64_t>::max();
    }

  private:
    bool change(std::uint32_t from, std::uint32_t to) noexcept {
        return state_.compare_exchange_strong(from, to, std::memory_order_seq_cst); // pairs with grant, nudge
    }
    std::atomic<std::uint32_t> &state_;
    const steady_clock::time_point *deadline_;
};

// May return early.
void waiter::wait_on_thread(const steady_clock::time_point *deadline) noexcept {
    check_not_forked(); // no thread is left to grant it
    on_thread me(state_, deadline);
    sleep_or_watch(me);
}

// Returns true if granted.
bool waiter::suspend_until_granted(const wait_limits &limits, const waiting_for &what) noexcept {
    FULT_ASSERT(!stays_, "only its grant ends the wait of a waiter without limits");
    FULT_ASSERT(is_running(who_), "a waiter is used by the task that made it");
    std::uint32_t seen = state_.load(std::memory_order_acquire);
    if (seen == polling)
        state_.compare_exchange_strong(seen, suspended,
                                       std::memory_order_seq_cst); // pairs with grant and nudge
    if (seen == granted)
        return true;
    const steady_clock::time_point *deadline = nullptr;
    steady_clock::time_point until;
    if (!who_ && limits.timed()) {
        until = limits.deadline();
        deadline = &until;
    }
    const wait_record record(who_ ? to_task(who_) : nullptr, what, true);
    while (state_.load(std::memory_order_acquire) == suspended && // pairs with grant
           !nudged_.load(std::memory_order_seq_cst)) {            // pairs with nudge
        if (who_)
            suspend_until_signaled(false);
        else
            wait_on_thread(deadline);
        if (deadline && limits.reached())
            break;
    }
    if (is_granted())
        return true;
    seen = suspended;
    state_.compare_exchange_strong(seen, polling, std::memory_order_seq_cst);
    return is_granted();
}

void waiter::wait(const waiting_for &what) noexcept {
    if (!is_granted() && !poll())
        wait_at_once(what);
}

// It is not nudged: limits of an earlier wait are gone.
void waiter::wait_at_once(const waiting_for &what) noexcept {
    FULT_ASSERT(is_running(who_), "a waiter is used by the task that made it");
    std::uint32_t seen = polling;
    if (state_.load(std::memory_order_relaxed) == polling &&
        !state_.compare_exchange_strong(seen, suspended, std::memory_order_seq_cst)) // pairs with grant
        return;
    if (!who_) {
        while (!is_granted()) {
            seen = polling;                                                             // after an unpark
            state_.compare_exchange_strong(seen, suspended, std::memory_order_seq_cst); // pairs with grant
            wait_on_thread(nullptr);
        }
        return;
    }
    const wait_record record(to_task(who_), what);
    while (!is_granted())
        suspend_until_signaled(false);
}

// A wait whose time is up before it begins is still a scheduling decision. Returns true if granted.
bool waiter::granted_after_yield() noexcept {
    let_others_run();
    return is_granted();
}

bool waiter::wait(const wait_limits &limits, const waiting_for &what) {
    if (is_granted())
        return true;
    if (limits.reached())
        return granted_after_yield();
    if (limits.none()) {
        wait(what);
        return true;
    }
    return poll() || wait_long(limits, what);
}

bool waiter::wait_long(const wait_limits &limits, const waiting_for &what) {
    if (limits.reached())
        return granted_after_yield();
    std::optional<timed_nudge> alarm;
    if (who_ && limits.timed())
        alarm.emplace(this_worker()->team.timers, *this, limits.deadline());
    const auto on_stop = [this] { nudge(); };
    std::optional<std::stop_callback<decltype(on_stop)>> stop;
    if (limits.stop())
        stop.emplace(*limits.stop(), on_stop);
    for (;;) {
        if (suspend_until_granted(limits, what))
            return true;
        nudged_.exchange(false, std::memory_order_seq_cst); // cleared first: a later nudge counts
        if ((alarm && alarm->is_over()) || limits.reached())
            return false;
    }
}

// Called after the state was changed from `was`. The waiter may be destroyed already.
void waiter::wake_up(task_id who, std::uint32_t was) noexcept {
    FULT_ASSERT(was != granted, "a wait ends once");
    FULT_ASSERT(was != at_bell || !who, "only a foreign thread is the watcher so");
    if (was == polling)
        return;
    if (who)
        post_signal(who);
    else if (was == at_bell)
        parker::ring();
    else
        futex_wake(&state_);
}

// Returns the previous state. The waiter may be destroyed afterwards.
std::uint32_t waiter::change_to_granted() noexcept {
    if (!stays_)
        return state_.exchange(granted, std::memory_order_seq_cst); // pairs with suspend_until_granted
    FULT_ASSERT(state_.load(std::memory_order_relaxed) == suspended, "only a grant changes its state");
    state_.store(granted, std::memory_order_release); // pairs with suspend_until_granted
    return suspended;
}

void waiter::grant() noexcept {
    FULT_ASSERT(!queued, "a waiter leaves its queue before it is granted");
    const team_visit visit(this_worker()); // first: a task that sees its grant may end before it is signaled
    const task_id who = who_;
    wake_up(who, change_to_granted());
}

// Returns nullptr if nothing is left to do: the waiter polls, or was signaled.
task *waiter::grant_claimed(worker *here) noexcept {
    FULT_ASSERT(!queued && here == this_worker());
    const team_visit visit(here); // as in grant
    const task_id who = who_;
    const std::uint32_t was = change_to_granted();
    if (was != polling && here && who)
        return here->claim_or_signal(who);
    wake_up(who, was);
    return nullptr;
}

void waiter::grant_next() noexcept {
    worker *here = this_worker();
    if (task *claimed = grant_claimed(here))
        here->handed_off().push(*here, claimed, claimed);
}

void waiter::nudge() noexcept {
    nudged_.store(true, std::memory_order_seq_cst); // pairs with suspend_until_granted
    std::uint32_t seen = suspended;
    while (!state_.compare_exchange_strong(seen, polling, std::memory_order_seq_cst))
        if (seen != suspended && seen != at_bell) // a thread alternates between the two
            return;
    wake_up(who_, seen);
}

void wait_chain::grant() noexcept {
    waiter *w = first_;
    first_ = last_ = nullptr;
    while (w) {
        waiter *next = w->next; // a granted waiter is destroyed
        w->grant();
        w = next;
    }
}

void wait_chain::grant_here(waiter *w) noexcept {
    worker *here = this_worker();
    task *newest = nullptr, *oldest = nullptr;
    while (w) {
        waiter *next = w->next; // a granted waiter is destroyed
        if (task *claimed = w->grant_claimed(here)) {
            claimed->next.store(newest, std::memory_order_relaxed);
            newest = claimed;
            oldest = oldest ? oldest : claimed;
        }
        w = next;
    }
    if (newest)
        here->handed_off().push(*here, newest, oldest);
}

} // namespace fult::detail
