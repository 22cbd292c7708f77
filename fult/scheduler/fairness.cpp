// Fairness: every ready task runs after a bounded number of decisions, whatever other tasks do
// (docs/scheduler.md, "Fairness"; tests/model/fair.pml).
//
// A fairness decision takes from the first of these sources, in rotation, that has a task. Each source is a
// sweep: it passes every other ready task at most once before it reaches one.
#include <algorithm>
#include <iterator>

#include "fult/base/held_locks.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Stack bytes for the inline joins between two decisions of a task: fewer if the stack is nearly used up,
// more on larger stacks.
constexpr std::uintptr_t row = 8192 * join_step;

// One row in this many may start an unstarted task: most of those belong to the same tree, and its joins
// would run them inline.
constexpr std::uint32_t rows_per_unstarted = 16;

// Index of that source below. Such a row begins with it: otherwise another source that always has a task
// could always come before it.
constexpr std::uint32_t unstarted_source = 2;

// Private tasks of other workers are checked in one turn of this many: the check takes cache lines from their
// owners.
constexpr std::uint32_t turns_per_hidden_check = 16;

} // namespace

const worker::source worker::sources[] = {
    &worker::take_foreign,     &worker::take_own_pinned, &worker::take_own_unstarted,
    &worker::take_own_yielded, &worker::take_own_public, &worker::take_oldest_handed_off,
    &worker::take_of_others,   &worker::take_hidden,
};

task *worker::pick_for_fairness(bool unstarted_too) noexcept {
    task *t = nullptr;
    for (unsigned tries = 0; !t && tries < std::size(sources); ++tries) {
        const source next = sources[turn_++ % std::size(sources)];
        if (unstarted_too || next != &worker::take_own_unstarted)
            t = (this->*next)();
    }
    return t;
}

// Other workers -------------------------------------------------------------------------------------------------------------------

// The next worker's number, skipping this one's. If there is no other, this one's.
unsigned worker::other_after(unsigned number) const noexcept {
    for (unsigned i = 0; i < 2; ++i)
        if ((number = (number + 1) % std::max(team.count, 1u)) != index)
            break;
    return number;
}

// The next public task in a sweep over another home. At the end of the sweep returns nullptr and restarts it.
task *worker::steal_from_slot(worker &victim, std::uint32_t &slot) noexcept {
    bool forwarded = false;
    task *t = victim.tasks.steal(forwarded, false, slot);
    if (forwarded)
        team.wake_for(victim, true);
    slot = t ? slot_of(t) + 1 : 0;
    return t;
}

task *worker::take_foreign() noexcept {
    const bool begins = foreign_slot_ == 0;
    task *t = steal_from_slot(team.foreign_home(), foreign_slot_);
    return t || begins ? t : steal_from_slot(team.foreign_home(), foreign_slot_);
}

// One home per turn.
task *worker::take_of_others() noexcept {
    if (team.stealing_disabled)
        return nullptr;
    task *t = steal_from_slot(*team.homes[swept_victim_], swept_slot_);
    if (!t)
        swept_victim_ = other_after(swept_victim_);
    return t;
}

// Tasks hidden by a worker that has made no decision since this worker's last check: its private tasks, and
// those handed off there. A worker that makes decisions takes them itself.
task *worker::take_hidden() noexcept {
    if (team.stealing_disabled || ++hidden_checks_ % turns_per_hidden_check != 0)
        return nullptr;
    worker &victim = *team.homes[hidden_victim_];
    const bool still = victim.tick_.load(std::memory_order_relaxed) == hidden_victim_ticks_;
    hidden_victim_ = other_after(hidden_victim_);
    hidden_victim_ticks_ = team.homes[hidden_victim_]->tick_.load(std::memory_order_relaxed);
    if (still && team.private_words && victim.tasks.seems_private() && victim.tasks.revoke() != 0)
        if (std::uint32_t first = 0; task *t = steal_from_slot(victim, first))
            return t;
    return steal_handed_off();
}

// Takes the oldest handed-off task: newer ones may hand off to each other forever. The walk to the end of a
// long chain costs a cache miss per task, so it is done rarely.
task *worker::take_oldest_handed_off() noexcept {
    constexpr unsigned far = 32, seldom = 16;
    if (++oldest_checks_ % seldom != 0) {
        const task *t = handed_off_.load(std::memory_order_acquire);
        for (unsigned i = 0; t && !is_deferred_lock(t) && i < far; ++i)
            t = t->next.load(std::memory_order_relaxed); // a thief may have taken it: then this is any chain
        if (t && !is_deferred_lock(t))
            return take_handed_off();
    }
    task *newest = handed_off_.exchange(nullptr, std::memory_order_acq_rel); // pairs with steal_handed_off
    if (!newest)
        return nullptr;
    if (is_deferred_lock(newest))
        return transfer(*this, newest);
    task *oldest = newest, *above = nullptr;
    while (task *below = oldest->next.load(std::memory_order_relaxed)) {
        above = oldest;
        oldest = below;
    }
    if (above) {
        above->next.store(nullptr, std::memory_order_relaxed);
        handed_off_.store(newest, std::memory_order_seq_cst); // empty until now: only this worker pushes
    }
    return oldest;
}

// Decisions of a task that does not call yield ------------------------------------------------------------------------------

void worker::take_turn(bool unstarted_too) noexcept {
    check_no_spinlock("a join or a wait");
    task *const self = current;
    if (request_flags.load(std::memory_order_relaxed) != 0)
        poll_requests(this);
    if (team.outside.any())
        team.outside.poll();
    if (task *next = pick_for_fairness(unstarted_too))
        switch_from(self, switch_reason::yield, next);
}

void worker::end_row() noexcept {
    if (stack_limit == inline_limit_ || inline_limit_ == never_inline)
        return; // the stack is low
    tick();
    const bool starts = ++rows_ % rows_per_unstarted == 0;
    const task *const next_slot = slots_.next();
    if (starts) {
        turn_ = unstarted_source;
        begin_apart();
    }
    const std::uint32_t slot = slot_of(current);
    if (home_of(current) == this)
        interrupted_.push(slot);
    take_turn(starts);
    worker *const w = this_worker(); // possibly another worker
    if (w == this) {
        interrupted_.drop(slot);
        return_to(next_slot);
    }
    w->stack_limit = std::max(w->inline_limit_, stack_pointer() - row);
}

} // namespace fult::detail
