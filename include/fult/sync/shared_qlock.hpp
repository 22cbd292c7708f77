/// @file
/// A lock for one writer or many readers, with a queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Like std::shared_timed_mutex (SharedTimedLockable), first come, first served: a reader that comes after a
/// waiting writer waits behind it, and adjacent readers are admitted together. Waiting suspends a task and
/// blocks a foreign thread; unlocking does neither. From any thread. Not recursive. The next owner may
/// destroy it if no other thread will use it: the unlock that admitted it no longer uses the lock.
class FULT_API shared_qlock {
  public:
    /// Unlocked.
    constexpr shared_qlock() noexcept = default;
    shared_qlock(const shared_qlock &) = delete;
    shared_qlock &operator=(const shared_qlock &) = delete;

    /// Waits until it owns the lock exclusively, as a writer.
    void lock() noexcept {
        if (!acquire_if_free())
            wait_for_turn(true, detail::wait_limits());
    }
    /// Acquires the lock as a writer if it is unlocked; returns whether it did. Every 256th failing try on a
    /// worker lets other tasks run, as qlock::try_lock.
    [[nodiscard]] bool try_lock() noexcept {
        return acquire_if_free() || (detail::let_others_run_sometimes() && acquire_if_free());
    }
    /// Admits the first waiters. Ends the program if no writer owns the lock.
    void unlock() noexcept;

    /// Waits until it owns the lock as a reader, shared with other readers.
    void lock_shared() noexcept {
        if (!acquire_shared_if_free())
            wait_for_turn(false, detail::wait_limits());
    }
    /// Acquires the lock as a reader if no writer owns it and none waits; returns whether it did. Every 256th
    /// failing try on a worker lets other tasks run, as qlock::try_lock.
    [[nodiscard]] bool try_lock_shared() noexcept {
        return acquire_shared_if_free() || (detail::let_others_run_sometimes() && acquire_shared_if_free());
    }
    /// The last reader admits the first waiters. Ends the program if no reader owns the lock.
    void unlock_shared() noexcept;

    /// As lock; false on timeout. Throws std::system_error if the memory for a runtime's first timed
    /// wait cannot be allocated, as do all that follow.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return acquire_if_free() ||
               wait_for_turn(true, detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As try_lock_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
        return acquire_if_free() || detail::attempt_until(time, [this](auto deadline) {
                   return wait_for_turn(true, detail::wait_limits(deadline));
               });
    }
    /// As lock_shared; false on timeout.
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &duration) {
        return acquire_shared_if_free() ||
               wait_for_turn(false, detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As try_lock_shared_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time) {
        return acquire_shared_if_free() || detail::attempt_until(time, [this](auto deadline) {
                   return wait_for_turn(false, detail::wait_limits(deadline));
               });
    }
    /// As lock; false if a stop is requested.
    [[nodiscard]] bool lock(const std::stop_token &stop) {
        return acquire_if_free() || wait_for_turn(true, detail::wait_limits(stop));
    }
    /// As lock_shared; false if a stop is requested.
    [[nodiscard]] bool lock_shared(const std::stop_token &stop) {
        return acquire_shared_if_free() || wait_for_turn(false, detail::wait_limits(stop));
    }

  private:
    /// the higher bits count the readers
    static constexpr std::uint64_t writing = 1, contended = 2, reader = 4;

    bool acquire_if_free() noexcept {
        std::uint64_t seen = 0;
        return word_.compare_exchange_strong(seen, writing,
                                             std::memory_order_acquire, // pairs with both unlocks
                                             std::memory_order_relaxed);
    }
    bool acquire_shared_if_free() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while ((seen & (writing | contended)) == 0)
            if (word_.compare_exchange_weak(seen, seen + reader,
                                            std::memory_order_acquire, // pairs with unlock
                                            std::memory_order_relaxed))
                return true;
        return false;
    }
    bool wait_for_turn(bool write, const detail::wait_limits &limits);
    void admit(detail::wait_chain &turn) noexcept;

    std::atomic<std::uint64_t> word_{0};
    detail::spin_lock lock_; ///< while `contended`, only its holder admits waiters
    detail::wait_list queue_;
};

} // namespace fult
