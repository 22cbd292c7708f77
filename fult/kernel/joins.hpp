// The end of a task, for the one that waits for it (tests/model/completion.pml).
#pragma once

#include <fult/detail/layout.hpp>

namespace fult::detail {

// Notifies the joiner, if there is one already; frees the slot of a detached task. The result is in the
// descriptor.
void complete(task *t) noexcept;

} // namespace fult::detail
