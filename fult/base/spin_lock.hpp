// Test-and-set lock with backoff, for the runtime's own short sections on kernel threads. The holder must not
// suspend.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::detail {

class spin_lock {
  public:
    void lock() noexcept {
        for (unsigned tries = 1; !try_lock(); ++tries)
            if (tries % 64 == 0)
                ::sched_yield(); // the holder may have been preempted
            else
                cpu_relax();
    }
    bool try_lock() noexcept {
        return !held_.load(std::memory_order_relaxed) &&
               !held_.exchange(true, std::memory_order_acquire); // pairs with unlock
    }
    void unlock() noexcept {
        FULT_ASSERT(is_held(), "only a lock that is held is released");
        held_.store(false, std::memory_order_release); // pairs with try_lock
    }
    // For assertions: some thread holds it.
    bool is_held() const noexcept { return held_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> held_{false};
};

} // namespace fult::detail
