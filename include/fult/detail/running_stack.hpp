// The stack of the calling thread, where that is none of the system's. Internal: for libraries of this
// project that answer for the system.
#pragma once

#include <fult/detail/platform.hpp>
#include <fult/this_task.hpp>

namespace fult::detail {

// True if the caller runs on a stack of the library's: a task's, or the one on which a worker looks for
// tasks. From any thread, and from a signal handler.
FULT_API bool runs_on_own_stack(stack_bounds &bounds) noexcept;

} // namespace fult::detail
