// A pinned task may join a task inline, on its own stack. The inline task is not pinned: if it suspends, any
// worker may resume it, with the stack. When it ends, the stack returns to the worker of the pinned task.
#pragma once

#include <fult/detail/layout.hpp>

#include "fult/memory/stack.hpp"

namespace fult::detail {

class worker;

// The task whose join or group runs t inline; nullptr if t is the first on its stack.
inline task *task_below(const task *t) noexcept { return t->outer.below(); }
inline bool has_at_end(const task *t, at_end_flag what) noexcept { return t->outer.has(what); }
inline void set_at_end(task *t, at_end_flag what) noexcept { t->outer.add(what); }

// Called before a suspended task becomes claimable. Returns true if only its home may run it. If others may,
// and its stack belongs to a pinned task, the way home is marked on that stack.
bool mark_way_home(task *t) noexcept;
inline bool stays_home(task *t) noexcept { return t->stack->pinned && mark_way_home(t); }

// mark_suspended for that case.
void mark_suspended_on_pinned_stack(task *left) noexcept;

// Called after the end of an inline task that leads_home: `self`, whose join ran it, returns to its worker.
void take_home(task *self) noexcept;

} // namespace fult::detail
