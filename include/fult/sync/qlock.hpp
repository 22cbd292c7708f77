// A lock with a queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {

// Mutual exclusion for tasks and foreign threads. Who finds it taken looks for a short while, then queues up
// and suspends (a foreign thread blocks); the queue is served first come, first served, and never passed by
// but in one case: a task that comes back to the lock that it has just left, with its worker having run
// nothing else since, may have it 16 times in a row before the first in the queue. TimedLockable, so
// std::lock_guard, std::unique_lock and std::scoped_lock take it. Not recursive. It may be destroyed as soon
// as the last owner's unlock has let the next one in, or has nobody to let in. Source: the queue behind a
// word is that of section 4.3 of H.-V. Dang's dissertation (Illinois, 2018); that ownership is handed over is
// ours.
class FULT_API qlock {
  public:
    // Not taken.
    constexpr qlock() noexcept = default;
    qlock(const qlock &) = delete;
    qlock &operator=(const qlock &) = delete;

    // Waits until it has the lock. May suspend. From any thread.
    FULT_ALWAYS_INLINE void lock() noexcept {
        std::uint32_t seen = open;
        if (word_.load(std::memory_order_relaxed) != open ||
            !word_.compare_exchange_strong(seen, taken, std::memory_order_acquire, // pairs with unlock
                                           std::memory_order_relaxed)) [[unlikely]]
            lock_slow();
    }

    // Whether it took the lock. From any thread. Does not wait for it; but the first in the queue may be a
    // task that this worker is to run next, so every 256th failing try on a worker lets others run: it may
    // suspend.
    bool try_lock() noexcept { return take_open() || try_lock_slow(); }

    // Hands the lock to the first in the queue, if there is one. By its owner, who may be another task than
    // the one that locked it. Does not suspend. Ends the program where the lock is not taken.
    FULT_ALWAYS_INLINE void unlock() noexcept {
        std::uint32_t seen = taken;
        if (word_.load(std::memory_order_relaxed) != taken ||                     // a queue: no failing write
            !word_.compare_exchange_strong(seen, open, std::memory_order_release, // pairs with lock
                                           std::memory_order_relaxed)) [[unlikely]]
            unlock_slow();
    }

    // As lock, for so long at most: false then. Throws std::system_error where a runtime's first timed
    // wait lacks memory. May suspend. From any thread.
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return take_open() || lock_within(detail::wait_limits(detail::deadline_after(duration)));
    }
    // As try_lock_for, until a time of any clock.
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
        return take_open() || detail::attempt_until(time, [this](auto deadline) {
                   return lock_within(detail::wait_limits(deadline));
               });
    }

    // As lock, until a stop is requested: false then. May suspend. From any thread.
    bool lock(const std::stop_token &stop) { return take_open() || lock_within(detail::wait_limits(stop)); }

    // How many stand in the queue now; for reports and tests. From any thread; does not suspend.
    std::size_t waiting() noexcept;

  private:
    enum : std::uint32_t { open, taken, wanted }; // wanted: taken, and the queue is not empty

    bool take_open() noexcept {
        std::uint32_t seen = open;
        return word_.compare_exchange_strong(seen, taken, std::memory_order_acquire,
                                             std::memory_order_relaxed); // pairs with unlock
    }
    bool try_lock_slow() noexcept;
    void lock_slow() noexcept;
    void unlock_slow() noexcept;
    bool lock_within(const detail::wait_limits &limits);
    bool look_for_a_while() noexcept;
    bool take_or_want() noexcept;

    bool take_back() noexcept;
    bool keep() noexcept;
    void start_turn() noexcept;
    static detail::task *pass_on(void *lock, detail::worker &here) noexcept;

    static constexpr std::uint8_t most_returns = 16;

    std::atomic<std::uint32_t> word_{open};
    std::uint8_t returns_ = most_returns; // left; the owner's
    bool first_stays_ = false;            // the first in the queue is known to wait for ever; the owner's
    detail::short_lock queueing_;         // who changes the word from or to `wanted` holds it
    detail::wait_list queue_;
};

} // namespace fult
