// Deadlock detection: no task of the process can ever run again.
#pragma once

namespace fult::detail {

struct worker_team;

// Milliseconds of sleep after which a worker first checks if it does not trim.
inline constexpr int look_without_trim = 1000;

// True if the process has only the runtime's threads, those registered by know_thread, and idle threads of
// the pool for blocking calls.
bool no_other_thread(worker_team &team) noexcept;

// True if only a task, or an event that a judge knows about, could wake a task: the process has no other
// threads (see above), the runtime expects no other outside event, and the program handles no signal from
// outside.
bool only_tasks_can_wake(worker_team &team) noexcept;

// Called by a worker in a long sleep. Reports a deadlock once, with a dump of all tasks, if every task waits.
// False if not, or if an outside event could still wake one: call again later. If there is a judge, the judge
// reports it, after it has asked the other processes.
bool report_deadlock(worker_team &team) noexcept;

} // namespace fult::detail
