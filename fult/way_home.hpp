// A pinned task joins a task in place, on its own stack. That one is not pinned: where it suspends, it may go
// on on any worker, the stack with it. When it ends, the stack returns to the worker of the pinned task.
#pragma once

#include <fult/detail/layout.hpp>

#include "stack.hpp"

namespace fult::detail {

class worker;

// The task whose join or group runs t in place; null: t is the first on its stack.
inline task *task_below(const task *t) noexcept {
    return reinterpret_cast<task *>(reinterpret_cast<std::uintptr_t>(t->outer) & ~at_end_mask);
}
inline bool has_at_end(const task *t, std::uintptr_t what) noexcept {
    return (reinterpret_cast<std::uintptr_t>(t->outer) & what) != 0;
}
inline void set_at_end(task *t, std::uintptr_t what) noexcept {
    t->outer = reinterpret_cast<task *>(reinterpret_cast<std::uintptr_t>(t->outer) | what);
}

// Before a suspended task becomes claimable: whether its home alone may run it. Where others may, and its
// stack is a pinned task's, the way home is marked on that stack.
bool mark_way_home(task *t) noexcept;
inline bool stays_home(task *t) noexcept { return t->on->pinned && mark_way_home(t); }

// park, for that case.
void park_on_pinned_stack(task *left) noexcept;

// After the end of a task in place that leads_home: `self`, whose join ran it, goes on where it is pinned.
void take_home(task *self) noexcept;

} // namespace fult::detail
