/// @file
/// An event: set and reset by hand.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {

/// Waits return while the event is set. Waiting suspends a task and blocks a foreign thread; set and reset do
/// neither. All calls are from any thread. A thread that has seen the event set, by a wait or by is_set, may
/// destroy it if no other thread will use it.
class FULT_API event {
  public:
    /// Initially reset by default.
    constexpr explicit event(bool set = false) noexcept : set_(set) {}
    event(const event &) = delete;
    event &operator=(const event &) = delete;

    /// Wakes all waiters; later waits return at once until reset.
    void set() noexcept;
    /// Makes later waits block. Waiters that set has woken are not affected.
    void reset() noexcept;
    /// True if the event is set. Does not suspend.
    [[nodiscard]] bool is_set() const noexcept {
        if (!set_.load(std::memory_order_acquire)) // pairs with set
            return false;
        lock_.lock(); // then the setter no longer uses this event
        lock_.unlock();
        return true;
    }

    /// Waits until the event is set.
    void wait() const noexcept { wait_within(detail::wait_limits()); }
    /// As wait, for at most the duration. Returns false on timeout. Throws std::system_error
    /// if the memory for a runtime's first timed wait cannot be allocated.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        return wait_within(detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As wait_for, with a time of any clock.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        return detail::attempt_until(
            time, [this](auto deadline) { return wait_within(detail::wait_limits(deadline)); });
    }
    /// As wait. Returns false if a stop is requested first.
    [[nodiscard]] bool wait(const std::stop_token &stop) const {
        return wait_within(detail::wait_limits(stop));
    }

  private:
    bool wait_within(const detail::wait_limits &limits) const;

    std::atomic<bool> set_; ///< changes under the lock
    mutable detail::spin_lock lock_;
    mutable detail::wait_list waiters_;
};

} // namespace fult
