// What schedule(runtime) means without OMP_SCHEDULE: each compiler's library has its own.
#pragma once

#include "omp/core/icv.hpp"

// Of the library that this is compiled into, for the omp_* functions. The loops of each compiler have their
// own in both.
[[gnu::visibility("hidden")]] extern const fult::omp::schedule_kind default_schedule;
