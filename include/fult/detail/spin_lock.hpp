// Test-and-set lock for short sections on kernel threads. The holder must not suspend.
#pragma once

#include <atomic>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::detail {

// Lockable: for std::lock_guard. Held for a few instructions; the holder must not throw.
class spin_lock {
  public:
    void lock() noexcept {
        if (held_.exchange(true, std::memory_order_acquire)) [[unlikely]] // pairs with unlock
            lock_slow();
    }
    bool try_lock() noexcept {
        return !held_.load(std::memory_order_relaxed) &&
               !held_.exchange(true, std::memory_order_acquire); // pairs with unlock
    }
    void unlock() noexcept {
        FULT_ASSERT(is_held(), "only a lock that is held is released");
        held_.store(false, std::memory_order_release); // pairs with lock and try_lock
    }
    // For assertions: some thread holds it.
    bool is_held() const noexcept { return held_.load(std::memory_order_relaxed); }

  private:
    FULT_API FULT_COLD void lock_slow() noexcept;

    std::atomic<bool> held_{false};
};

} // namespace fult::detail
