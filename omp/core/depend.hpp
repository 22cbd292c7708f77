// Dependences among the children of a task (depend clauses).
//
// The parent keeps, for each address, the last writers and the readers since. Only the parent's thread reads
// and changes that table, as only it generates the children. What a task waits for is a count of
// predecessors; each task has a list of successors, which its end releases.
#pragma once

#include <cstddef>

#include "frame.hpp"

namespace fult::omp {

enum class dependence_kind { in, out, mutexinoutset, inoutset };

struct dependence {
    const void *address; // null, for out: all memory (omp_all_memory)
    dependence_kind kind;
};

// Of the child f of `me`, whose dependences these are. Returns true if it may run at once; else the end of
// its last predecessor submits it.
bool add_dependences(frame *me, frame *f, const dependence *list, std::size_t count);
// Waits until a child with these dependences could run. Suspends.
void await_dependences(frame *me, const dependence *list, std::size_t count);
void release_successors(frame *f) noexcept;
void forget_dependences(frame *parent) noexcept;

} // namespace fult::omp
