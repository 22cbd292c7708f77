/// @file
/// A lock for very short sections, without a queue.
#pragma once

#include <atomic>

#include <fult/detail/platform.hpp>

namespace fult {
namespace detail {
/// @cond internal
FULT_API void spinlock_taken() noexcept; // for the checked kind: counts the spinlocks of this kernel thread
FULT_API void spinlock_released() noexcept;
FULT_API void spinlock_back_off(unsigned tries) noexcept;
/// @endcond

/// The two kinds are different types, so that mixing sources compiled with and without NDEBUG is noticed.
template <bool Checked> class basic_spinlock {
  public:
    /// Unlocked.
    constexpr basic_spinlock() noexcept = default;
    basic_spinlock(const basic_spinlock &) = delete;
    basic_spinlock &operator=(const basic_spinlock &) = delete;

    /// Spins until the lock is acquired. Does not suspend. From any thread.
    void lock() noexcept {
        for (unsigned tries = 1; taken_.exchange(true, std::memory_order_acquire);
             ++tries) // pairs with unlock
            do
                spinlock_back_off(tries++);
            while (taken_.load(std::memory_order_relaxed));
        if constexpr (Checked)
            spinlock_taken();
    }

    /// Tries once and returns whether the lock was acquired. Does not suspend. From any thread.
    [[nodiscard]] bool try_lock() noexcept {
        if (taken_.load(std::memory_order_relaxed) || taken_.exchange(true, std::memory_order_acquire))
            return false;
        if constexpr (Checked)
            spinlock_taken();
        return true;
    }

    /// Called by the owner, on the kernel thread that locked it. Does not suspend.
    void unlock() noexcept {
        if constexpr (Checked)
            spinlock_released();
        taken_.store(false, std::memory_order_release); // pairs with lock
    }

  private:
    std::atomic<bool> taken_{false};
};

/// @cond internal
#ifdef NDEBUG
inline constexpr bool checked_spinlocks = false;
#else
inline constexpr bool checked_spinlocks = true;
#endif
/// @endcond
} // namespace detail

/// Test-and-set lock with backoff. Lockable. For sections of a few instructions that never suspend: while an
/// owner is suspended, whole workers spin. If both the program and the library are compiled without NDEBUG, a
/// task that suspends while its thread holds one ends the program with a message.
using spinlock = detail::basic_spinlock<detail::checked_spinlocks>;

} // namespace fult
