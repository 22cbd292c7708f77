// A lock for very short sections, without a queue.
#pragma once

#include <atomic>

#include <fult/detail/platform.hpp>

namespace fult {
namespace detail {
FULT_API void spinlock_taken() noexcept; // for the checked kind: counts what this kernel thread holds
FULT_API void spinlock_released() noexcept;
FULT_API void spinlock_back_off(unsigned tries) noexcept;

// The two kinds are different types, so that sources compiled with and without NDEBUG do not mix unseen.
template <bool Checked> class basic_spinlock {
  public:
    // Not taken.
    constexpr basic_spinlock() noexcept = default;
    basic_spinlock(const basic_spinlock &) = delete;
    basic_spinlock &operator=(const basic_spinlock &) = delete;

    // Spins until it has the lock. Does not suspend. From any thread.
    void lock() noexcept {
        for (unsigned tries = 1; taken_.exchange(true, std::memory_order_acquire);
             ++tries) // pairs with unlock
            do
                spinlock_back_off(tries++);
            while (taken_.load(std::memory_order_relaxed));
        if constexpr (Checked)
            spinlock_taken();
    }

    // Whether it took the lock. Does not suspend. From any thread.
    bool try_lock() noexcept {
        if (taken_.load(std::memory_order_relaxed) || taken_.exchange(true, std::memory_order_acquire))
            return false;
        if constexpr (Checked)
            spinlock_taken();
        return true;
    }

    // By the owner, on the kernel thread that locked it. Does not suspend.
    void unlock() noexcept {
        if constexpr (Checked)
            spinlock_released();
        taken_.store(false, std::memory_order_release); // pairs with lock
    }

  private:
    std::atomic<bool> taken_{false};
};

#ifdef NDEBUG
inline constexpr bool checked_spinlocks = false;
#else
inline constexpr bool checked_spinlocks = true;
#endif
} // namespace detail

// Test-and-set with backoff. Lockable. For sections of some instructions that never suspend: an owner that
// suspends keeps whole workers spinning. Where both the program and the library are compiled without NDEBUG,
// a task that suspends while its thread holds one ends the program with a message.
using spinlock = detail::basic_spinlock<detail::checked_spinlocks>;

} // namespace fult
