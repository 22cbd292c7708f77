// Dependences among the children of a task (depend clauses).
#pragma once

#include <cstddef>

#include "omp_task.hpp"

namespace fult::omp {

enum class dependence_kind { in, out, mutexinoutset, inoutset };

struct dependence {
    const void *address; // null, for out: all memory (omp_all_memory)
    dependence_kind kind;
};

// Submits the child f of `me`, whose dependences these are, or leaves that to the end of its last
// predecessor. If very many children have not ended, other tasks run first.
void submit_with_dependences(omp_task *me, omp_task *f, const dependence *list, std::size_t count);
// Of one that need not be deferred, as `me` is alone or final, or it is final itself: runs it at once, or
// leaves that to the end of its last predecessor, a detached task.
void run_with_dependences(omp_task *me, omp_task *f, const dependence *list, std::size_t count);
// Waits until a child with these dependences could run. Suspends.
void await_dependences(omp_task *me, const dependence *list, std::size_t count);
// The same for the child f, which runs next, undeferred. If it has an event, later children may have to wait
// for it.
void await_predecessors(omp_task *me, omp_task *f, const dependence *list, std::size_t count);
// True if children of `me` were given dependences: an undeferred one may have to wait for them.
inline bool has_dependent_children(const omp_task *me) noexcept { return me->more && me->more->children; }
// The node of f is done. `at` is the calling thread.
void release_successors(omp_task *f, thread_state *at) noexcept;
void forget_dependences(omp_task *parent) noexcept;

} // namespace fult::omp
