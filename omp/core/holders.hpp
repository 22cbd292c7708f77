// Which workers the threads of the program hold. Members of teams that different threads open at the same
// time are on different workers: a program may let a team meet at a barrier of its own, as BLAS libraries do,
// at which members spin; on a shared worker, one that spins would keep the other team's from its start for
// ever. Model: tests/model/hold.pml.
#pragma once

#include "team.hpp"

namespace fult::omp {

// By a thread of the program, around a region of a team that has workers of its own: while it is open, nobody
// takes away what the thread holds. Workers that it holds without a region are left to others that need them.
void begin_holding(thread_state *opener) noexcept;
void end_holding(thread_state *opener) noexcept;

// Grows when a thread loses a worker. Read within a region, the same number as before means the same workers.
unsigned changes_of_holders() noexcept;

// Moves members of the opener's team, which are on any workers, to those that the opener holds or that nobody
// needs, and else to new ones. Returns the number of workers. Where no more can be started, members stay
// where they are.
unsigned hold_workers(team &t, unsigned workers);

} // namespace fult::omp
