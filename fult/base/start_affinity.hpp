// The processors that the process was allowed to use when this library was loaded: before a runtime bound its
// first thread. Threads that workers start inherit a worker's processor, and must not keep it.
#pragma once

#include <sched.h>

#include <fult/detail/platform.hpp>

namespace fult::detail {

FULT_API const cpu_set_t &processors_at_start() noexcept; // empty if unknown
// Lets the calling thread run on all of them.
FULT_API void run_on_processors_at_start() noexcept;

} // namespace fult::detail
