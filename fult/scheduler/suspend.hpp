// How a task waits.
#pragma once

namespace fult::detail {

// Suspends the running task until it is signaled; may return without a signal. If its worker has no other
// task and `patient` is set, it first polls for the signal on the task's own stack, which avoids the switch.
void suspend_until_signaled(bool patient) noexcept;

// Called if a task does not wait after all, because its time is up: yields like this_task::yield. Returns
// true if another task ran. Does nothing on a foreign thread.
bool let_others_run() noexcept;

} // namespace fult::detail
