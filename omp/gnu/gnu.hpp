// What the files of this front end share.
#pragma once

#include <cstdint>

#include "omp/core/omp_task.hpp"
#include "omp/core/team.hpp"

namespace fult::omp {

// Begins a construct with task reductions: the first member registers them, and all share its memory.
void start_reductions(omp_task *me, std::uintptr_t *reductions);
struct reduction_setup {
    group_counter *group;
    std::uintptr_t *descriptors;
    unsigned threads;
};
void end_work_reductions(omp_task *me, bool cancelled);

// The iterations of a loop: rounded up, without overflow.
template <class T> std::uint64_t trip_count(bool up, T start, T end, T step) noexcept {
    const auto u = [](T v) { return static_cast<std::uint64_t>(v); };
    if (up ? start >= end : start <= end)
        return 0;
    return up ? (u(end) - u(start) - 1) / u(step) + 1 : (u(start) - u(end) - 1) / (0 - u(step)) + 1;
}

// A region's proc_bind clause.
constexpr int bind_of(unsigned flags) noexcept { return static_cast<int>(flags & 7); }

} // namespace fult::omp
