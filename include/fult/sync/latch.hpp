/// @file
/// A latch: a count that goes down to zero once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Like std::latch, with timed and stoppable waits. Waiting suspends a task and blocks a foreign thread;
/// counting down does neither. All calls are from any thread. A thread that has seen it open, by a wait or by
/// try_wait, may destroy it if no other thread will use it.
class FULT_API latch {
  public:
    /// The largest count.
    static constexpr std::ptrdiff_t(max)() noexcept { return (std::numeric_limits<std::ptrdiff_t>::max)(); }

    /// Opens after `expected` counts; ends the program if that is negative.
    constexpr explicit latch(std::ptrdiff_t expected) noexcept : count_(expected) {
        if (expected < 0)
            detail::misuse("latch", "the count is negative");
    }
    latch(const latch &) = delete;
    latch &operator=(const latch &) = delete;

    /// Decrements the count; at zero wakes all waiters. Ends the program if the update is negative or above
    /// the count.
    void count_down(std::ptrdiff_t update = 1) noexcept;
    /// True if the count is zero. Does not suspend.
    [[nodiscard]] bool try_wait() const noexcept;
    /// Waits until the count is zero.
    void wait() const noexcept;
    /// Calls count_down, then wait.
    void arrive_and_wait(std::ptrdiff_t update = 1) noexcept {
        count_down(update);
        wait();
    }

    /// As wait, for at most the duration. Returns false on timeout. Throws std::system_error
    /// if the memory for a runtime's first timed wait cannot be allocated.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        return try_wait() || wait_within(detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As wait_for, with a time of any clock.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        return try_wait() || detail::attempt_until(time, [this](auto deadline) {
                   return wait_within(detail::wait_limits(deadline));
               });
    }
    /// As wait. Returns false if a stop is requested first.
    [[nodiscard]] bool wait(const std::stop_token &stop) const {
        return try_wait() || wait_within(detail::wait_limits(stop));
    }

  private:
    bool wait_within(const detail::wait_limits &limits) const;

    std::atomic<std::ptrdiff_t> count_; ///< becomes zero under the lock
    mutable detail::spin_lock lock_;
    mutable detail::wait_list waiters_;
};

} // namespace fult
