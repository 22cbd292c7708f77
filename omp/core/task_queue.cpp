#include "task_queue.hpp"

#include <algorithm>
#include <mutex>

#include <fult/detail/assertion.hpp>
#include <fult/detail/tied.hpp>
#include <fult/this_task.hpp>

#include "icv.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

int priority_of(const omp_task *f) noexcept {
    return f->more && priorities_enabled ? std::min(f->more->priority, icvs_of_program().max_task_priority)
                                         : 0;
}

} // namespace

void task_queue::open(team_member *first) noexcept {
    FULT_ASSERT(tasks_.empty() && placeholders_ == 0);
    placeholder_.self = first;
}

// The highest first, so the keys are negative.
void task_queue::insert(omp_task *f) {
    FULT_ASSERT(!f->has(is_placeholder | is_implicit));
    tasks_.emplace(-priority_of(f), f);
    count_.store(tasks_.size(), std::memory_order_relaxed);
}

omp_task *task_queue::remove(position at) noexcept {
    omp_task *const f = at->second;
    if (next_look_ == at)
        ++next_look_;
    tasks_.erase(at);
    count_.store(tasks_.size(), std::memory_order_relaxed);
    return f;
}

// The task of the highest priority that may begin on this worker; `any`: all may. In a long queue only some
// are looked at, and the next call goes on behind them.
task_queue::position task_queue::find(bool any) noexcept {
    constexpr std::size_t most_looked_at = 1024;
    if (any)
        return tasks_.begin();
    if (tasks_.size() <= most_looked_at || next_look_ == tasks_.end())
        next_look_ = tasks_.begin();
    for (std::size_t i = 0; i < most_looked_at && next_look_ != tasks_.end(); ++i, ++next_look_)
        if (member_for(next_look_->second))
            return next_look_;
    return tasks_.end();
}

// On a worker outside of the team, too: it passes the task on.
bool task_queue::is_unconstrained() const noexcept {
    const team &t = *placeholder_.in();
    return !t.member_on(detail::deciding_worker()) || may_begin_any(t);
}

bool task_queue::has_admitted() noexcept {
    const bool any = is_unconstrained();
    const std::lock_guard hold(lock_);
    return placeholders_ > tasks_.size() || any || find(false) != tasks_.end();
}

// True if a placeholder comes with it.
bool task_queue::count_in(omp_task *f, bool has_slot) {
    const std::lock_guard hold(lock_);
    insert(f);
    if (!has_slot && placeholders_ != 0)
        return false;
    ++placeholders_;
    unended_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void task_queue::add(omp_task *f) {
    detail::task *slot = detail::running_task() ? detail::try_take_slot(detail::if_many::spare) : nullptr;
    if (!count_in(f, slot != nullptr))
        return;
    if (!slot) {
        const omp_wait here(begins::nothing);
        slot = await_slot(*placeholder_.in());
    }
    submit_at(slot, &placeholder_);
}

omp_task *task_queue::take(omp_task *next) {
    if (next->has(leaves_slot)) {
        next->flags &= ~leaves_slot;
        return count_in(next, false) ? begin_placeholder() : nullptr;
    }
    if (next->has(is_placeholder))
        return begin_placeholder();
    return is_empty() ? next : take_before(next);
}

omp_task *task_queue::take_before(omp_task *next) {
    const bool any = is_unconstrained();
    omp_task *first;
    detail::task *slot;
    {
        const std::lock_guard hold(lock_);
        const position found = find(any);
        if (found == tasks_.end())
            return next;
        first = remove(found);
        slot = detail::try_take_slot(detail::if_many::spare);
        if (!slot) // `next` in its place: there is a placeholder
            insert(next);
    }
    if (slot)
        submit_at(slot, next);
    return first;
}

// It ends if there is one for each task that is left, or, without a slot, if there is another one.
omp_task *task_queue::begin_placeholder() {
    for (;; this_task::yield()) {
        const bool any = is_unconstrained();
        omp_task *first = nullptr;
        detail::task *slot = nullptr;
        bool ends;
        {
            const std::lock_guard hold(lock_);
            FULT_ASSERT(placeholders_ != 0, "this one is counted");
            const position found = find(any);
            const std::size_t left = tasks_.size() - (found != tasks_.end() ? 1 : 0);
            if (placeholders_ <= left)
                slot =
                    detail::try_take_slot(placeholders_ > 1 ? detail::if_many::spare : detail::if_many::last);
            ends = !slot && (placeholders_ > left || placeholders_ > 1);
            if (found != tasks_.end() && (slot || ends))
                first = remove(found);
            placeholders_ -= ends ? 1 : 0;
        }
        if (ends) {
            unended_.fetch_sub(1, std::memory_order_release); // pairs with await_placeholders
            return first;
        }
        if (slot) {
            submit_at(slot, &placeholder_);
            return first;
        }
    }
}

void task_queue::await_placeholders() {
    FULT_ASSERT(is_empty(), "all tasks of the region have run");
    poll_until([this] { return unended_.load(std::memory_order_acquire) == 0; }); // begin_placeholder
}

} // namespace fult::omp
