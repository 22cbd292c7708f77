// The binding of threads to places (OpenMP 5.1, section 2.6.2). A worker is a thread: the members of an
// outermost region are bound as its policy says. A worker may have members of several nested regions: they
// are put on the workers that are bound to the places that the policy chooses, as far as there are any, and
// change no binding.
#pragma once

#include "omp_task.hpp"

namespace fult::omp {

// Part of the list of places: the threads of a region that begins here are bound to these.
struct place_partition {
    int first = 0, count = 0;
    bool contains(int place) const noexcept { return place >= first && place < first + count; }
};

// Where a policy puts a member.
struct binding {
    int place = -1; // -1: nowhere in particular
    place_partition partition;
};

// As in omp.h.
enum class bind_policy : int { none, any, primary, close, spread };

bool binds_threads() noexcept; // false: there are no places

// Of member i of `size`, in a region that a thread on `here` opens.
binding bind_member(bind_policy policy, place_partition from, int here, unsigned i, unsigned size) noexcept;

// The places of m's region; without a policy, all.
place_partition partition_of(const team_member &m) noexcept;

// The calling thread, of state `at`.
void bind_thread(thread_state *at, int place) noexcept;
void unbind_thread(thread_state *at) noexcept; // to all processors that the process had

// More threads than processors: an idle one gives its processor up between looks.
void record_binding(const team &t, bind_policy policy) noexcept;

} // namespace fult::omp
