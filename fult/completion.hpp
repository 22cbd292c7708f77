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

// One task's wait for the first of several: each that ends before the waiter has left counts itself, as its
// last access, and signals.
struct any_counter {
    task_id waiter;
    std::atomic<task *> first;
    std::atomic<std::size_t> ended;
};

// Tells the joiner, if there is one already; a detached task's slot becomes free. The outcome is in the
// descriptor.
void complete(task *t) noexcept;

} // namespace fult::detail
