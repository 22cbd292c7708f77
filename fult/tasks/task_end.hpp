// What a worker does when a task ends (fult/kernel/joins.cpp, fult/kernel/locals.cpp).
#pragma once

#include <fult/detail/layout.hpp>

namespace fult::detail {

// Notifies the joiner, if there is one already; frees the slot of a detached task. The result is in the
// descriptor.
void complete(task *t) noexcept;

// Calls the keys' destructors until no value is left, at most four rounds, as they may set values again; what
// is left then is dropped. Must be called by the task that owns the values. May suspend.
void end_locals(local_values &values) noexcept;

} // namespace fult::detail
