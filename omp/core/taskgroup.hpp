#pragma once

#include "tasks.hpp"

namespace fult::omp {

void begin_taskgroup(omp_task *me);
inline group_counter *taskgroup_of(const omp_task *me) noexcept { // that it has begun last
    FULT_ASSERT(me->innermost->outer, "the first counter of a task is no taskgroup's");
    return static_cast<group_counter *>(me->innermost);
}
void end_taskgroup(omp_task *me); // waits for all descendants generated in it

} // namespace fult::omp
