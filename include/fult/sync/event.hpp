// An event: set and reset by hand.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {

// Whoever waits goes on while it is set. Waiting suspends a task and blocks a foreign thread; set and reset
// do neither. All calls are from any thread. Who has seen it set, by a wait or by is_set, may destroy it if
// nobody else will use it.
class FULT_API event {
  public:
    // Not set, unless asked to be.
    constexpr explicit event(bool set = false) noexcept : set_(set) {}
    event(const event &) = delete;
    event &operator=(const event &) = delete;

    // Lets all go on that wait now, and all that come until reset.
    void set() noexcept;
    // From now on who comes waits. Changes nothing for those that set has let go on.
    void reset() noexcept;
    // Whether it is set now. Does not suspend.
    bool is_set() const noexcept {
        if (!set_.load(std::memory_order_acquire)) // pairs with set
            return false;
        lock_.lock(); // then who set it is done with this event
        lock_.unlock();
        return true;
    }

    // Waits until it is set.
    void wait() const noexcept { wait_within(detail::wait_limits()); }
    // As wait, for so long at most. False: the time has passed before it was set. Throws std::system_error
    // where a runtime's first timed wait lacks memory.
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period> &duration) const {
        return wait_within(detail::wait_limits(detail::deadline_after(duration)));
    }
    // As wait_for, until a time of any clock.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
        return detail::attempt_until(
            time, [this](auto deadline) { return wait_within(detail::wait_limits(deadline)); });
    }
    // As wait, until a stop is requested. False: that was before it was set.
    bool wait(const std::stop_token &stop) const { return wait_within(detail::wait_limits(stop)); }

  private:
    bool wait_within(const detail::wait_limits &limits) const;

    std::atomic<bool> set_; // changes under the lock
    mutable detail::short_lock lock_;
    mutable detail::wait_list waiters_;
};

} // namespace fult
