// Programs that share their processors with others that are as busy: several ranks of a job on few. There a
// look in vain costs more than its time, for whoever is waited for may wait for the processor.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/platform.hpp>

namespace fult::detail {

extern constinit std::atomic<bool> processors_shared;

inline bool shares_processors() noexcept { return processors_shared.load(std::memory_order_relaxed); }

// Between two looks of whoever has nothing else to do.
inline void relax() noexcept {
    if (shares_processors()) [[unlikely]]
        ::sched_yield();
    else
        cpu_relax();
}

} // namespace fult::detail
