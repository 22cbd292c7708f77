// A lock of a byte for a few instructions, never held where a task may suspend.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/platform.hpp>

namespace fult::comm::detail {

// How a thread waits for what another one finishes within a few instructions: unless the system took that
// one's processor away, whom only the system can give it back.
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

// For std::lock_guard.
class spin {
  public:
    // The exchange's acquire sees all that was done before the unlock whose false it found. While the lock is
    // taken it is only read, so that its cache line stays with the owner.
    void lock() noexcept {
        spin_wait wait;
        while (taken_.exchange(true, std::memory_order_acquire))
            while (taken_.load(std::memory_order_relaxed))
                wait();
    }
    bool try_lock() noexcept {
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> taken_{false};
};

} // namespace fult::comm::detail
