// How a task waits for an end.
#pragma once

#include <fult/detail/kernel.hpp>
#include <fult/detail/wait_record.hpp>

#include "fult/scheduler/slot_place.hpp"
#include "fult/scheduler/suspend.hpp"

namespace fult::detail {

// Suspends the running task while open() holds. `what` is shown in reports.
template <class Open> void suspend_while(const waiting_for &what, const Open &open) noexcept {
    const wait_record record(running_task(), what);
    const slot_place place(*this_worker());
    while (open()) // spurious wake-ups, and signals meant for another wait of this task
        suspend_until_signaled(false);
    place.resume();
}

} // namespace fult::detail
