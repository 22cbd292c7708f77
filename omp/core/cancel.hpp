// Cancellation (OMP_CANCELLATION=true).
#pragma once

#include "icv.hpp"
#include "omp_task.hpp"
#include "team.hpp"

namespace fult::omp {

enum cancel_kind : int { cancel_parallel = 1, cancel_loop = 2, cancel_sections = 4, cancel_taskgroup = 8 };

// As in gcc's calls, which pass one of them.
constexpr bool is_cancel_kind(int kind) noexcept {
    return kind == cancel_parallel || kind == cancel_loop || kind == cancel_sections ||
           kind == cancel_taskgroup;
}

bool cancel(omp_task *me, int kinds, bool request); // true: go to the end of the construct
// The same for an interface whose loops may have no work share: all members meet in end_cancellable then.
bool cancel_construct(omp_task *me, bool request);
// The barrier of a construct that may be cancelled. Returns true if the region was cancelled, also while
// other members are elsewhere.
bool end_cancellable(omp_task *me);
bool cancellation_point(omp_task *me, int kinds);

} // namespace fult::omp
