#pragma once

#include "tasks.hpp"

namespace fult::omp {

void begin_taskgroup(frame *me);
inline group_scope *taskgroup_of(const frame *me) noexcept { // that it has begun last
    FULT_ASSERT(me->innermost->outer, "the first scope of a task is no taskgroup's");
    return static_cast<group_scope *>(me->innermost);
}
void end_taskgroup(frame *me); // waits for all descendants generated in it
void taskwait_slowly(frame *me);

// Waits for all children. Suspends, unless they can all be run here.
inline void taskwait(frame *me) {
    if (me->base.is_empty() && me->innermost == &me->base)
        return;
    run_own_children(me);
    if (!me->base.is_empty() || me->innermost != &me->base)
        taskwait_slowly(me);
}

} // namespace fult::omp
