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

// A region's proc_bind clause.
constexpr int bind_of(unsigned flags) noexcept { return static_cast<int>(flags & 7); }

} // namespace fult::omp
