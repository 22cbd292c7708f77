// Priorities of tasks (OMP_MAX_TASK_PRIORITY above 0).
//
// Ready tasks with a priority wait in a queue of their team. For each, a placeholder is spawned: whichever
// worker starts a placeholder, or any other task of the team, takes the task of the highest priority from the
// queue first. So such a task is never later than its placeholder, and the tasks without a priority never
// wait for more than the queue.
#pragma once

#include "omp_task.hpp"

namespace fult::omp {

void submit_with_priority(omp_task *f);
// Called by a worker that starts `next`. Returns the task that it runs instead, or `next`; null: `next` was a
// placeholder, and its task has run already.
omp_task *take_by_priority(omp_task *next);

} // namespace fult::omp
