// Changes of a task's control variables, and texts about it.
#pragma once

#include <string>

#include "icv.hpp"
#include "omp_task.hpp"

namespace fult::omp {

// A set equal to this one that is never freed or changed.
const icv_set *kept_icvs(const icv_set &v);

template <class Change> void change_icvs(const Change &change) {
    omp_task *const me = current_task();
    icv_set v = *me->icvs();
    change(v);
    me->own_icvs = kept_icvs(v);
}

// OMP_AFFINITY_FORMAT for the calling thread.
std::string affinity_text(const char *format);
void show_affinity(const char *format); // a line, of the calling thread

} // namespace fult::omp
