// Ends timed waits of tasks.
#pragma once

#include <atomic>

#include <fult/sync/waiter.hpp>

#include "fult/timers.hpp"

namespace fult::detail {

// Before a task's first timed wait. Throws std::system_error.
void open_timers();

// While it lives, its waiter, a task's, is nudged once, when the deadline has passed.
class timed_nudge : private timer_entry {
  public:
    timed_nudge(waiter &who, steady_clock::time_point deadline) noexcept;
    ~timed_nudge(); // from here on nobody touches the waiter for its sake
    timed_nudge(const timed_nudge &) = delete;
    timed_nudge &operator=(const timed_nudge &) = delete;

    // Whether it has nudged. It does so once: a waiter that asked the clock instead, on a processor that is
    // behind, would wait for another nudge for ever.
    bool is_over() const noexcept { return over_.load(std::memory_order_relaxed); } // ordered by the nudge

  private:
    timers &queue_;
    waiter &who_;
    std::atomic<bool> over_{false};
};

} // namespace fult::detail
