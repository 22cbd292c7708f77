#include "way_home.hpp"

#include <fult/detail/fast_path.hpp>

#include "locals.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult::detail {

// The stack may leave the pinned task's worker from here on. That is noted once for all that run above the
// same task: so the walk is no longer than the joins that have made the stack deep.
bool mark_way_home(task *t) noexcept {
    if (t->pinned)
        return true;
    t->on->pinned = false;
    for (task *below = task_below(t); !below->pinned; below = task_below(t))
        t = below;
    set_at_end(t, leads_home);
    return false;
}

void park_on_pinned_stack(task *left) noexcept { park(left, mark_way_home(left) ? ready_pinned : ready); }

void take_home(task *self) noexcept {
    worker *const w = this_worker();
    run_as(w, self);
    w->here()->pinned = true;
    if (home_of(self) != w)
        w->switch_from(self, leave::yield, w->pick(false));
}

// The slot goes back at once, so the locals' memory does too. They end first: their destructors may suspend.
void end_inline_slow(task *t) noexcept {
    if (has_at_end(t, has_locals)) {
        end_locals(*t->extras);
        static_cast<worker *>(home_of(t))->set_extras(t, nullptr);
    }
    if (has_at_end(t, leads_home))
        take_home(task_below(t));
}

} // namespace fult::detail
