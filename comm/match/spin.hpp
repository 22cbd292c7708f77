// A one-byte lock for critical sections of a few instructions in which no task may suspend.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::comm::detail {

// Waits for another thread to finish a few instructions. Yields the processor now and then, as that thread
// may have been preempted.
class spin_wait {
  public:
    void operator()() noexcept {
        if (++turns_ % 128 != 0)
            fult::detail::cpu_relax();
        else
            ::sched_yield();
    }

  private:
    unsigned turns_ = 0;
};

// Lockable: for std::lock_guard.
class spin {
  public:
    // The exchange's acquire pairs with unlock. While the lock is held it is only read, so that its cache
    // line stays with the owner.
    void lock() noexcept {
        spin_wait wait;
        while (taken_.exchange(true, std::memory_order_acquire))
            while (taken_.load(std::memory_order_relaxed))
                wait();
    }
    bool try_lock() noexcept {
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept {
        FULT_ASSERT(is_held(), "only a lock that is held is released");
        taken_.store(false, std::memory_order_release);
    }
    // For assertions: some thread holds it.
    bool is_held() const noexcept { return taken_.load(std::memory_order_relaxed); }

  private:
    std::atomic<bool> taken_{false};
};

} // namespace fult::comm::detail
