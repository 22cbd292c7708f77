// Programs in which nothing can happen any more.
#pragma once

namespace fult::detail {

struct team;

// Whether the process has no threads but the runtime's, and those of the pool for blocking calls run none.
bool no_other_thread(team &crew) noexcept;

// Whether nobody but a task could wake a task: the process has no threads but the workers, the runtime
// expects nothing from outside, and no handler waits for a signal.
bool only_tasks_can_wake(team &crew) noexcept;

// By a worker that has settled into sleep. Says once, with all tasks, that every one waits where that is so.
// False where it is not, or something outside could still wake one: to be asked again later.
bool tell_deadlock(team &crew) noexcept;

} // namespace fult::detail
