#include "way_home.hpp"

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "fult/tasks/task.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult::detail {

namespace {
void pin_until_end(task *t) noexcept {
    if (t->pinned)
        return;
    FULT_ASSERT(home_of(t) == t->stack->tied_to);
    t->pinned = true;
    set_at_end(t, was_tied);
}
} // namespace

// Called before the stack may leave the pinned task's worker. Marks the way home once for all tasks that run
// above the same pinned task, so that the walk is no longer than the chain of inline joins.
bool mark_way_home(task *t) noexcept {
    if (t->pinned)
        return true;
    if (t->stack->tied_to) {
        if (home_of(t) == t->stack->tied_to) {
            pin_until_end(t);
            return true;
        }
        // of another home, joined inline: its stack returns to the tied task that joins it
        FULT_ASSERT(task_below(t), "the first task of a tied stack is pinned");
        pin_until_end(task_below(t));
    }
    t->stack->pinned = false;
    FULT_ASSERT(task_below(t), "the stack of a pinned task ends in it");
    for (task *below = task_below(t); !below->pinned; below = task_below(t))
        t = below;
    set_at_end(t, leads_home);
    FULT_ASSERT(task_below(t)->pinned);
    return false;
}

void mark_suspended_on_pinned_stack(task *left) noexcept {
    mark_suspended(left, mark_way_home(left) ? ready_pinned : ready);
}

void take_home(task *self) noexcept {
    FULT_ASSERT(self->pinned, "only a pinned task has to return");
    worker *const w = this_worker();
    run_as(w, self);
    w->current_stack()->pinned = true;
    if (home_of(self) != w)
        w->switch_from(self, switch_reason::yield, w->pick(false));
}

// The slot is freed at once, and with it the memory of the task-local values. Their destructors run first, as
// they may suspend.
void end_inline_slow(task *t) noexcept {
    if (has_at_end(t, has_locals)) {
        FULT_ASSERT(t->extras, "the values are stored there");
        end_locals(*t->extras);
        static_cast<worker *>(home_of(t))->set_extras(t, nullptr);
    }
    if (has_at_end(t, was_tied))
        t->pinned = false;
    if (has_at_end(t, leads_home))
        take_home(task_below(t));
}

} // namespace fult::detail
