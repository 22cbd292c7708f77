// Scheduling points of a task that goes on by itself: taskyield, and the generation of very many tasks.
#pragma once

#include "omp_task.hpp"

namespace fult::omp {

// Lets other tasks run: those that have begun, and, if `me` is tied, its descendants. Without effect on a
// foreign thread. In that time private children of `me` may run one after the other
// (run_children_of_yielding).
void taskyield(omp_task *me);
// So many that have not ended that the generator lets others run: then few are queued, their memory stays in
// the cache, and most predecessors have ended. It never waits for its children: they may wait for what it
// does next.
bool has_many_children(const omp_task *me) noexcept;

} // namespace fult::omp
