/// @file
/// A lock with a queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Mutual exclusion for tasks and foreign threads. A caller that finds it locked spins briefly, then queues
/// and suspends (a foreign thread blocks). The queue is served first come, first served, with one exception:
/// a task that locks again right after unlocking, with its worker having run nothing else in between, may
/// acquire the lock 16 times in a row before the first waiter. TimedLockable: std::lock_guard,
/// std::unique_lock and std::scoped_lock accept it. Not recursive. It may be destroyed as soon as the last
/// owner's unlock has granted it to the next one, or has found no waiter. Source: the queue behind a word is
/// from section 4.3 of H.-V. Dang's dissertation (Illinois, 2018), which does not pass ownership directly.
class FULT_API qlock {
  public:
    /// Unlocked.
    constexpr qlock() noexcept = default;
    qlock(const qlock &) = delete;
    qlock &operator=(const qlock &) = delete;

    /// Waits until the lock is acquired. May suspend. From any thread.
    FULT_ALWAYS_INLINE void lock() noexcept {
        std::uint32_t seen = unlocked;
        if (word_.load(std::memory_order_relaxed) != unlocked ||
            !word_.compare_exchange_strong(seen, locked, std::memory_order_acquire, // pairs with unlock
                                           std::memory_order_relaxed)) [[unlikely]]
            lock_slow();
    }

    /// Tries to acquire the lock and returns whether it did. From any thread. Does not wait for the lock; but
    /// the first waiter may be a task that this worker is to run next, so every 256th failing try on a worker
    /// lets other tasks run: it may suspend.
    [[nodiscard]] bool try_lock() noexcept { return acquire_if_free() || try_lock_slow(); }

    /// Releases the lock; grants it to the first waiter, if there is one. Called by the owner, which may be
    /// another task than the one that locked it. Does not suspend. Ends the program if the lock is not
    /// locked.
    FULT_ALWAYS_INLINE void unlock() noexcept {
        std::uint32_t seen = locked;
        if (word_.load(std::memory_order_relaxed) != locked || // contended: avoid a failing write
            !word_.compare_exchange_strong(seen, unlocked, std::memory_order_release, // pairs with lock
                                           std::memory_order_relaxed)) [[unlikely]]
            unlock_slow();
    }

    /// As lock; false on timeout. Throws std::system_error if the memory for a runtime's first timed
    /// wait cannot be allocated. May suspend. From any thread.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return acquire_if_free() || lock_within(detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As try_lock_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
        return acquire_if_free() || detail::attempt_until(time, [this](auto deadline) {
                   return lock_within(detail::wait_limits(deadline));
               });
    }

    /// As lock; false if a stop is requested. May suspend. From any thread.
    [[nodiscard]] bool lock(const std::stop_token &stop) {
        return acquire_if_free() || lock_within(detail::wait_limits(stop));
    }

    /// The number of waiters; for reports and tests. From any thread; does not suspend.
    std::size_t waiting() noexcept;

  private:
    enum : std::uint32_t { unlocked, locked, contended }; ///< contended: locked, and the queue is not empty

    bool acquire_if_free() noexcept {
        std::uint32_t seen = unlocked;
        return word_.compare_exchange_strong(seen, locked, std::memory_order_acquire,
                                             std::memory_order_relaxed); // pairs with unlock
    }
    bool try_lock_slow() noexcept;
    void lock_slow() noexcept;
    void unlock_slow() noexcept;
    bool lock_within(const detail::wait_limits &limits);
    bool spin() noexcept;
    bool acquire_or_mark_contended() noexcept;

    bool reacquire() noexcept;
    bool defer_release() noexcept;
    void start_turn() noexcept;
    static detail::task *transfer(void *lock, detail::worker &here) noexcept;

    static constexpr std::uint8_t max_reacquisitions = 16;

    std::atomic<std::uint32_t> word_{unlocked};
    std::uint8_t reacquisitions_left_ = max_reacquisitions; ///< number left; for the owner
    bool first_stays_ = false;   ///< the first waiter is known to have no limits; for the owner
    detail::spin_lock queueing_; ///< held for changes of the word from or to `contended`
    detail::wait_list queue_;
};

} // namespace fult
