// Deadlock detection: no task of the process can ever run again.
#pragma once

namespace fult::detail {

struct worker_team;

// True if the process has only the runtime's threads, those registered by know_thread, and idle threads of
// the pool for blocking calls.
bool no_other_thread(worker_team &team) noexcept;

// True if only a task, or an event that a judge knows about, could wake a task: the process has no other
// threads (see above), the runtime expects no other outside event, and the program handles no signal from
// outside.
bool only_tasks_can_wake(worker_team &team) noexcept;

} // namespace fult::detail
