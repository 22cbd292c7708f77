// How a task waits.
#pragma once

namespace fult::detail {

// Suspends the running task until a signal reaches it; may return without one. Where its worker has nothing
// else to do, it first watches for the signal on the task's own stack, for a while if `patient`: no switch
// then.
void suspend_until_signaled(bool patient) noexcept;

// Where a task does not wait after all, as its time is up: as this_task::yield. On a foreign thread: nothing.
// Whether another one ran.
bool let_others_run() noexcept;

} // namespace fult::detail
