// Which workers the threads of the program hold. Members of teams that different threads open at the same
// time are on different workers: a program may let a team meet at a barrier of its own, as BLAS libraries do,
// at which members spin; on a shared worker, one that spins would keep the other team's from ever starting.
// Model: tests/model/hold.pml.
#pragma once

#include <functional>

#include "team.hpp"

namespace fult::omp {

// By a thread of the program, around a region of a team that has workers of its own: while it is open, no
// other thread takes them. Workers that a thread holds without a region are left to others that need them.
void begin_holding(thread_state *opener) noexcept;
void end_holding(thread_state *opener) noexcept;

// By a foreign thread that ends.
void release_held_workers(thread_state &opener) noexcept;

// Grows when a thread loses a worker. Read within a region, the same number as before means the same workers.
unsigned changes_of_holders() noexcept;

struct held_workers {
    unsigned workers; // that there are now
    bool is_complete; // no member shares a worker while others hold some
};
// A worker for each member but the first. A number of the opener's outermost teams keeps its worker from team
// to team, of whatever size, unless another thread's region has it now. Others get one that the opener holds,
// or that no thread does, or a new one, or one of a thread without a region: chosen(number) if they can, and
// they share that one if there are no more.
held_workers hold_workers(team &t, unsigned workers, thread_state *opener,
                          const std::function<thread_state *(unsigned)> &chosen);

} // namespace fult::omp
