// Priorities of tasks (OMP_MAX_TASK_PRIORITY above 0).
//
// Ready tasks with a priority wait in a queue of their team. For each, a ticket is spawned: whichever worker
// starts a ticket, or any other task of the team, takes the task of the highest priority from the queue
// first. So such a task is never later than its ticket, and the tasks without a priority never wait for more
// than the queue.
#pragma once

#include "frame.hpp"

namespace fult::omp {

extern bool priorities_enabled; // set when the control variables are read
inline bool has_priority(const frame *f) noexcept {
    return f->more && f->more->priority > 0 && priorities_enabled;
}
void submit_with_priority(frame *f);
// Called by a worker that starts `next`. Returns the task that it runs instead, or `next`; null: `next` was a
// ticket, and its task has run already.
frame *by_priority(frame *next);

} // namespace fult::omp
