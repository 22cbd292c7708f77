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

// The highest comes first.
int below_top(const omp_task *f) noexcept {
    return f->more && priorities_enabled ? -std::min(f->more->priority, icvs_of_program().max_task_priority)
                                         : 0;
}

} // namespace

void task_queue::open(team_member *first) noexcept {
    FULT_ASSERT(tasks_.empty() && placeholders_ == 0);
    placeholder_.self = first;
}

void task_queue::insert(omp_task *f) {
    FULT_ASSERT(!f->has(is_placeholder | is_implicit));
    const rank its{below_top(f), next_number_++};
    tasks_.emplace(its, f);
    const auto [group, is_new] = by_parent_.try_emplace(f->parent, siblings{its.number, {}});
    group->second.tasks.emplace(its, f);
    if (is_new)
        parents_.emplace_hint(parents_.end(), its.number, &group->second);
    count_.store(tasks_.size(), std::memory_order_relaxed);
}

omp_task *task_queue::remove(ranked::iterator at) noexcept {
    omp_task *const f = at->second;
    const auto group = by_parent_.find(f->parent);
    group->second.tasks.erase(at->first);
    if (group->second.tasks.empty()) {
        parents_.erase(group->second.since);
        by_parent_.erase(group);
    }
    tasks_.erase(at);
    count_.store(tasks_.size(), std::memory_order_relaxed);
    return f;
}

// A task that may begin on this worker; `any`: all may. If there are many parents, only some are looked at,
// and the next call goes on behind them.
task_queue::ranked::iterator task_queue::find(bool any) noexcept {
    const auto first = tasks_.begin();
    if (tasks_.empty() || any || member_for(first->second))
        return first;
    const team_member *m = placeholder_.in()->member_on(detail::deciding_worker());
    for (; m; m = m->next_here)
        if (const ranked *const found = m->has_begun() ? find_for(*m) : nullptr)
            return tasks_.find(found->begin()->first);
    return tasks_.end();
}

const task_queue::ranked *task_queue::find_for(const team_member &m) noexcept {
    constraint *const c = constraint_on(m);
    const bool newest_decides = !m.at->constraints.has_apart();
    if (!c || (newest_decides && c->what != begins::descendants))
        return nullptr;
    if (const auto children = by_parent_.find(c->task);
        children != by_parent_.end() && member_for(first_of(children->second)))
        return &children->second.tasks;
    return find_by_parent(*c, newest_decides);
}

// The children of a parent that may not begin are not looked at again, or, if that may change, when those of
// all have been.
const task_queue::ranked *task_queue::find_by_parent(constraint &c, bool lasts) noexcept {
    unsigned left = 1024;
    if (c.passed_over.end == 0)
        c.passed_over = {next_number_, next_number_};
    const auto is_passed_over = [&](const siblings &each) {
        return !lasts || never_admits(c, first_of(each));
    };
    bool in_row = true;
    for (auto at = parents_.lower_bound(c.passed_over.end); at != parents_.end() && left != 0; ++at, --left) {
        if (member_for(first_of(*at->second)))
            return &at->second->tasks;
        if ((in_row = in_row && is_passed_over(*at->second)))
            c.passed_over.end = at->first + 1;
    }
    in_row = true;
    for (auto at = parents_.lower_bound(c.passed_over.begin); at != parents_.begin() && left != 0; --left) {
        --at;
        if (member_for(first_of(*at->second)))
            return &at->second->tasks;
        if ((in_row = in_row && is_passed_over(*at->second)))
            c.passed_over.begin = at->first;
    }
    if (!lasts && left != 0)
        c.passed_over = {};
    return nullptr;
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
        const auto found = find(any);
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
            const auto found = find(any);
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
