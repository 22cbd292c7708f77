// How a task waits.
#pragma once

#include <fult/detail/kernel.hpp>
#include <fult/detail/wait_record.hpp>

#include "worker.hpp"

namespace fult::detail {

// Suspends the running task until it is signaled; may return without a signal. If its worker has no other
// task and `patient` is set, it first polls for the signal on the task's own stack, which avoids the switch.
void suspend_until_signaled(bool patient) noexcept;

// Called if a task does not wait after all, because its time is up: yields like this_task::yield. Returns
// true if another task ran. Does nothing on a foreign thread.
bool let_others_run() noexcept;

// Where a task tree takes its slots. After a wait the tree goes on there, whatever ran in the meantime: trees
// that take turns on a worker would otherwise take slots between those of each other, and none could free its
// own in stack order any more (docs/scheduler.md, "Trees that take turns").
class slot_place {
  public:
    explicit slot_place(const worker &here) noexcept : left_(&here), next_(here.slots.next()) {}

    // Called when the task goes on, possibly on another worker. row_ended: it was left at the end of a row of
    // joins.
    void resume(bool row_ended = false) const noexcept {
        worker *const here = this_worker();
        here->slots.resume(here == left_ ? next_ : nullptr, row_ended);
    }

  private:
    const worker *left_;
    const task *next_;
};

// Suspends the running task while open() holds. `what` is shown in reports.
template <class Open> void suspend_while(const waiting_for &what, const Open &open) noexcept {
    const wait_record record(running_task(), what);
    const slot_place place(*this_worker());
    while (open()) // spurious wake-ups, and signals meant for another wait of this task
        suspend_until_signaled(false);
    place.resume();
}

} // namespace fult::detail
