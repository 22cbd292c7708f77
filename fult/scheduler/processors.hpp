// Sharing of processors with other busy processes: several ranks of a job on few processors. There a poll
// that finds nothing costs more than its time, since the event may depend on a process that waits for the
// processor.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/platform.hpp>

namespace fult::detail {

extern constinit std::atomic<bool> processors_shared;

inline bool shares_processors() noexcept { return processors_shared.load(std::memory_order_relaxed); }

// Called between two polls of an idle thread.
inline void relax() noexcept {
    if (shares_processors()) [[unlikely]]
        ::sched_yield();
    else
        cpu_relax();
}

} // namespace fult::detail
