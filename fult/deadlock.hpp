// Programs in which nothing can happen any more.
#pragma once

namespace fult::detail {

struct worker_team;

// Milliseconds of sleep after which a worker looks first where it does not trim.
inline constexpr int look_without_trim = 1000;

// Whether the process has no threads but the runtime's and those that know_thread knows, and those of the
// pool for blocking calls run none.
bool no_other_thread(worker_team &team) noexcept;

// Whether nobody but a task, or what a judge knows about, could wake a task: the process has no threads but
// those above, the runtime expects nothing else from outside, and no handler waits for a signal.
bool only_tasks_can_wake(worker_team &team) noexcept;

// Called by a worker in a long sleep. Reports a deadlock once, with a dump of all tasks, if every task waits.
// False where it is not, or something outside could still wake one: to be asked again later. Where there is a
// judge, that one says it, after it has asked the other processes.
bool report_deadlock(worker_team &team) noexcept;

} // namespace fult::detail
