#include "processors.hpp"

#include <chrono>
#include <sched.h>

#include <fult/detail/service.hpp>

namespace fult::detail {

constinit std::atomic<bool> processors_shared{false};

void share_processors(bool shared) noexcept { processors_shared.store(shared, std::memory_order_relaxed); }

// A sleep and a wake-up cost about ten microseconds. Ranks that poll in turn come back within less than
// `long_time`, also some tens of them on a processor; processes that compute take milliseconds.
bool yields_for_long() noexcept {
    using steady = std::chrono::steady_clock;
    constexpr auto long_time = std::chrono::microseconds(200);
    const auto before = steady::now();
    ::sched_yield();
    return steady::now() - before > long_time;
}

// Counted per thread: a thread that polls rarely yields rarely.
void yield_if_processors_shared() noexcept {
    constexpr unsigned interval = 16;
    static thread_local unsigned looks = 0;
    if (shares_processors() && ++looks % interval == 0) [[unlikely]]
        ::sched_yield();
}

} // namespace fult::detail
