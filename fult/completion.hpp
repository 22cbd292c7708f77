// The end of a task, and who waits for it (tests/model/join.pml).
#pragma once

#include <atomic>

#include <fult/detail/layout.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

// One task's wait for many: each child counts it down, the last one signals.
struct join_counter {
    task_id waiter;
    std::atomic<std::size_t> remaining;
};

// Tells the joiner, if there is one already; a detached task's slot becomes free. The outcome is in the
// descriptor.
void complete(task *t) noexcept;

} // namespace fult::detail
