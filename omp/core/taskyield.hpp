// Scheduling points of a task that goes on by itself: taskyield, and the generation of very many tasks.
#pragma once

#include "omp_task.hpp"

namespace fult::omp {

// Lets tasks run that have begun. A task that yields again and again polls for what others do: then new tasks
// begin, too, and, if `me` is tied, its descendants alone. Without effect on a foreign thread.
//
// A task that yields once begins none, as with libgomp: it may hold what they wait for.
void taskyield(omp_task *me);
// Called by a generator now and then. If very many of its children have not ended, it yields, and its thread
// begins them (run_children_of_yielding): then few are queued, and their memory stays in the cache. One that
// is in a blocking call does not keep the generator from going on. As many as the compilers' libraries queue
// are never begun so: they may wait for what the generator does next.
void limit_children(omp_task *me);

} // namespace fult::omp
