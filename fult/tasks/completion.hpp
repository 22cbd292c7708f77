// The end of a task, and the wait for it (tests/model/join.pml).
#pragma once

#include <atomic>

#include <fult/detail/layout.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

// One task's wait for many: each child counts it down, and the last one signals.
struct join_counter {
    task_id waiter;
    std::atomic<std::size_t> remaining;
};
static_assert(alignof(join_counter) >= 8, "room for a join_tag");

// One task's wait for the first of several. Each task that ends before the waiter has withdrawn increments
// `ended`, as its last access, and signals.
struct any_counter {
    task_id waiter;
    std::atomic<task *> first;
    std::atomic<std::size_t> ended;
};
static_assert(alignof(any_counter) >= 8, "room for a join_tag");

// Notifies the joiner, if there is one already; frees the slot of a detached task. The result is in the
// descriptor.
void complete(task *t) noexcept;

} // namespace fult::detail
