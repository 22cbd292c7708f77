// Sharing of processors with other busy processes: several ranks of a job on few processors. There a poll
// that finds nothing costs more than its time, since the event may depend on a process that waits for the
// processor.
#pragma once

#include <atomic>

#include <fult/detail/platform.hpp>

namespace fult::detail {

extern constinit std::atomic<bool> processors_shared;

inline bool shares_processors() noexcept { return processors_shared.load(std::memory_order_relaxed); }

// Gives the processor to others. True if they have kept it for so long that to poll on is a loss: a sleeper
// is run as soon as the event wakes it, a thread that yields comes behind all others each time.
bool yields_for_long() noexcept;

// Called between two polls of an idle thread. True if it had better sleep.
inline bool relax() noexcept {
    if (shares_processors()) [[unlikely]]
        return yields_for_long();
    cpu_relax();
    return false;
}

} // namespace fult::detail
