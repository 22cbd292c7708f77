// Every ready task's turn: a bounded number of decisions after it became ready it runs, whatever the others
// do (docs/scheduler.md, "Fairness"; tests/model/fair.pml).
//
// A decision for fairness takes from the first of these sources, in rotation, that has something. Each source
// is a sweep: it passes every other ready task once at most before it reaches one.
#include <algorithm>
#include <iterator>

#include "held_locks.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Joins in place between two decisions of a task, as stack: fewer where the stack is nearly used up, more on
// larger stacks.
constexpr std::uintptr_t row = 8192 * join_step;

// One row in so many starts a task that has not started: those are mostly of the same tree, whose joins would
// have run them in place.
constexpr std::uint32_t rows_to_a_start = 16;

// The place of that source below. Such a row begins with it: else another that always has something might
// always come before it.
constexpr std::uint32_t unstarted_place = 2;

// What other workers hide is looked for in one turn of so many: the look takes lines from them.
constexpr std::uint32_t turns_to_a_look = 16;

} // namespace

const worker::source worker::sources[] = {
    &worker::take_foreign,     &worker::take_own_pinned, &worker::take_own_unstarted,
    &worker::take_own_yielded, &worker::take_own_public, &worker::take_oldest_handed,
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

// Of others -------------------------------------------------------------------------------------------------------------------

// The next worker's number but this one's. Where there is no other, this one's.
unsigned worker::other_after(unsigned number) const noexcept {
    for (unsigned i = 0; i < 2; ++i)
        if ((number = (number + 1) % std::max(crew.count, 1u)) != index)
            break;
    return number;
}

// The next public task of a sweep over another home; null, and the sweep begins anew, where it has ended.
task *worker::steal_from_slot(worker &victim, std::uint32_t &slot) noexcept {
    bool forwarded = false;
    task *t = victim.tasks.steal(forwarded, false, slot);
    if (forwarded)
        crew.wake_for(victim, true);
    slot = t ? slot_of(t) + 1 : 0;
    return t;
}

task *worker::take_foreign() noexcept {
    const bool begins = foreign_slot_ == 0;
    task *t = steal_from_slot(crew.foreign_home(), foreign_slot_);
    return t || begins ? t : steal_from_slot(crew.foreign_home(), foreign_slot_);
}

// One home in each turn.
task *worker::take_of_others() noexcept {
    if (crew.alone)
        return nullptr;
    task *t = steal_from_slot(*crew.homes[toured_], toured_slot_);
    if (!t)
        toured_ = other_after(toured_);
    return t;
}

// What a worker hides that has decided nothing since this one's last look at it: its private tasks, and those
// that were handed over there. One that decides takes them itself.
task *worker::take_hidden() noexcept {
    if (crew.alone || ++asked_for_hidden_ % turns_to_a_look != 0)
        return nullptr;
    worker &victim = *crew.homes[suspect_];
    const bool still = victim.tick_.load(std::memory_order_relaxed) == suspect_ticks_;
    suspect_ = other_after(suspect_);
    suspect_ticks_ = crew.homes[suspect_]->tick_.load(std::memory_order_relaxed);
    if (still && crew.private_words && victim.tasks.seems_private() && victim.tasks.revoke() != 0)
        if (std::uint32_t first = 0; task *t = steal_from_slot(victim, first))
            return t;
    return steal_handed();
}

// For fairness: newer ones may go on handing over to each other for ever. The way to the end of a long chain
// costs a cache miss a task, so it is gone seldom.
task *worker::take_oldest_handed() noexcept {
    constexpr unsigned far = 32, seldom = 16;
    if (++asked_for_oldest_ % seldom != 0) {
        const task *t = handed_.load(std::memory_order_acquire);
        for (unsigned i = 0; t && !is_kept(t) && i < far; ++i)
            t = t->next.load(std::memory_order_relaxed); // a thief may have taken it: then it is any chain
        if (t && !is_kept(t))
            return take_handed();
    }
    task *newest = handed_.exchange(nullptr, std::memory_order_acq_rel); // pairs with steal_handed
    if (!newest)
        return nullptr;
    if (is_kept(newest))
        return pass_on(*this, newest);
    task *oldest = newest, *above = nullptr;
    while (task *below = oldest->next.load(std::memory_order_relaxed)) {
        above = oldest;
        oldest = below;
    }
    if (above) {
        above->next.store(nullptr, std::memory_order_relaxed);
        handed_.store(newest, std::memory_order_seq_cst); // empty until now: nobody else pushes
    }
    return oldest;
}

// Of a task that gives way without a call of yield ------------------------------------------------------------------------------

void worker::take_turn(bool unstarted_too) noexcept {
    check_no_spinlock("a join or a wait");
    task *const self = current;
    if (attention.load(std::memory_order_relaxed) != 0)
        attend(this);
    if (crew.outside.any())
        crew.outside.poll();
    if (task *next = pick_for_fairness(unstarted_too))
        switch_from(self, leave::yield, next);
}

void worker::end_row() noexcept {
    if (stack_limit == floor_)
        return; // it is low
    tick();
    const bool starts = ++rows_ % rows_to_a_start == 0;
    if (starts)
        turn_ = unstarted_place;
    take_turn(starts);
    worker *const w = this_worker(); // perhaps another one
    w->stack_limit = std::max(w->floor_, stack_pointer() - row);
}

} // namespace fult::detail
