// Where the members of a region run: the worker of each, and the place to which its thread is bound.
#pragma once

#include "binding.hpp"
#include "icv.hpp"
#include "team.hpp"

namespace fult::omp {

// The worker of each member. Member 0 is on the caller's thread. The others follow on the next workers: at
// the outermost level always on the same ones, which keep their thread-local data from one region to the
// next.
void assign_threads(team &t, thread_state *caller, unsigned workers);

// The policy of a region: that of its clause, or else of the variable. OMP_PROC_BIND=false overrides a
// clause.
inline int policy_of(const icv_set &creators, const region_options &with) noexcept {
    return with.bind != 0 && creators.bind != 0 ? with.bind : creators.bind;
}

// The place of each member. In a nested region, members move to workers that are bound to it.
void bind_members(team &t, bind_policy policy);

} // namespace fult::omp
