// Ends timed waits of tasks.
#pragma once

#include <atomic>
#include <chrono>

#include <fult/detail/waiter.hpp>

#include "fult/scheduler/timers.hpp"

namespace fult::detail {

// Nudges its waiter, a task's, once, when the deadline has passed.
class timed_nudge : private timer_entry {
  public:
    timed_nudge(timers &queue, waiter &who, steady_clock::time_point deadline) noexcept
        : queue_(queue), who_(who) {
        timer_entry::deadline =
            std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
        fire = [](timer_entry &e) noexcept {
            auto &self = static_cast<timed_nudge &>(e);
            self.over_.store(true, std::memory_order_relaxed);
            self.who_.nudge();
        };
        queue_.arm(*this);
    }
    ~timed_nudge() { queue_.disarm(*this); } // when it returns, the waiter is no longer accessed
    timed_nudge(const timed_nudge &) = delete;
    timed_nudge &operator=(const timed_nudge &) = delete;

    // True if it has nudged. The nudge comes once: a waiter that compared clocks instead, on a processor
    // whose clock is behind, would wait forever for another one.
    bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); } // ordered by the nudge

  private:
    timers &queue_;
    waiter &who_;
    std::atomic<bool> over_{false};
};

} // namespace fult::detail
