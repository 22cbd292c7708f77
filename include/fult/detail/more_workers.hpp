// More workers for the running runtime. Used by fult-omp.
#pragma once

#include <fult/detail/platform.hpp>

namespace fult::detail {

/// Starts workers until there are `wanted`, or as many as the runtime can have: one without stealing or with
/// bound workers keeps its number. Returns their number now; 0: no runtime is running. From any thread; does
/// not suspend. Throws std::system_error or std::bad_alloc if the system refuses; those that have started
/// stay. What worker_count() returned before is then too small: a caller must know that nothing relies on it.
FULT_API unsigned add_workers(unsigned wanted);

/// Microseconds for which an idle worker searches before it sleeps, in place of the option: what is right
/// depends on the number of workers. From any thread; without a runtime does nothing.
FULT_API void set_idle_spin(unsigned microseconds) noexcept;

} // namespace fult::detail
