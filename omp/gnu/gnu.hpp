// What the files of this front end share.
#pragma once

#include <cstdint>

#include "omp/core/frame.hpp"
#include "omp/core/team.hpp"

namespace fult::omp {

// Begins a construct with task reductions: the first member registers them, and all share its memory.
void start_reductions(frame *me, std::uintptr_t *reductions);
struct reduction_setup {
    group_scope *group;
    std::uintptr_t *descriptors;
    unsigned threads;
};
void end_work_reductions(frame *me, bool cancelled);

// A region's proc_bind clause.
constexpr int bind_of(unsigned flags) noexcept { return static_cast<int>(flags & 7); }

} // namespace fult::omp
