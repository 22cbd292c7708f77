#include "taskyield.hpp"

#include <algorithm>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/this_task.hpp>

#include "tasks.hpp"
#include "team.hpp"

namespace fult::omp {

namespace {
void changed(yielding_tasks &list) noexcept {
    ++list.changes;
    list.admitted = nullptr;
}
} // namespace

yielding_task::yielding_task(omp_task *tied) noexcept : tied_(tied), before_(tied->at->yielding.last) {
    FULT_ASSERT(is_here(tied->at) && !tied->has(is_untied));
    tied->at->yielding.last = this;
    changed(tied->at->yielding);
}

yielding_task::~yielding_task() {
    FULT_ASSERT(held_.empty(), "a held task is submitted again");
    yielding_task **at = &tied_->at->yielding.last;
    while (*at != this)
        at = &(*at)->before_;
    *at = before_;
    changed(tied_->at->yielding);
}

void yielding_task::submit_held() {
    for (omp_task *const f : std::exchange(held_, {}))
        if (has_priority(f))
            submit_with_priority(f);
        else
            submit_slowly(f);
}

bool yielding_task::admits(const omp_task *f) const noexcept {
    while (f && f != tied_)
        f = f->parent;
    return f != nullptr;
}

// The child of an admitted task is a descendant, too. A task that has ended and is used again does no harm:
// whatever starts here after the list has changed is admitted, and what started before has a parent that
// lives.
bool yielding_task::excludes_children_of(const omp_task *parent) noexcept {
    const yielding_tasks &list = parent->at->yielding;
    if (list.admitted && list.admitted == parent->parent)
        return false;
    for (const yielding_task *each = list.last; each; each = each->before_)
        if (each->is_of(parent->self) && !each->admits(parent))
            return true;
    return false;
}

bool yielding_task::hold_back(team_member &m, omp_task *f) {
    FULT_ASSERT(is_here(m.at) && !f->has(is_implicit));
    if (f->has(is_untied))
        return false;
    for (yielding_task *each = m.at->yielding.last; each; each = each->before_)
        if (each->is_of(&m) && !each->admits(f)) {
            each->held_.push_back(f);
            return true;
        }
    return false;
}

void taskyield(omp_task *me) {
    if (me->in()->is_serial) {
        me->in()->late.run_one(me);
        return;
    }
    if (!task_on_worker())
        return;
    if (me->has(is_untied))
        return this_task::yield();
    yielding_task here(me);
    // The scheduler may offer tasks of others first.
    constexpr unsigned max_rounds = 16;
    for (unsigned round = 0; round < max_rounds; ++round) {
        const std::size_t before = here.count_held();
        this_task::yield();
        if (here.count_held() == before)
            break;
    }
    here.submit_held();
}

// 32 tasks of 256 bytes, and as many nodes of dependences, stay in a first-level cache; with 128 queued
// tasks a generator of small ones is half as fast.
// Below a generator that yields, more: each of them that yields as well keeps a stack.
bool has_many_children(const omp_task *me) noexcept {
    constexpr std::uint32_t many = 32, for_each_thread = 8, times_below_another = 8;
    const std::uint32_t most = std::max(many, for_each_thread * me->in()->size);
    return bodies_in(me->innermost->outstanding()) > most * (me->at->yielding.last ? times_below_another : 1);
}

void let_some_run(omp_task *me) {
    if (!task_on_worker())
        return;
    if (me->has(is_untied))
        return this_task::yield();
    yielding_task here(me);
    this_task::yield();
    here.submit_held();
}

} // namespace fult::omp
