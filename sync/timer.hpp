// Ends timed waits of tasks: one thread a process, which sleeps until the next deadline.
#pragma once

#include <chrono>

#include <fult/sync/waiter.hpp>

namespace fult::detail {

// Starts the thread, once a process. Throws std::system_error. It survives runtimes, and ends with the
// process.
void start_timer();

// While it lives, its waiter is nudged once, when the deadline has passed.
class timed_nudge {
  public:
    timed_nudge(waiter &who, steady_clock::time_point when) noexcept;
    ~timed_nudge(); // from here on the timer does not touch the waiter
    timed_nudge(const timed_nudge &) = delete;
    timed_nudge &operator=(const timed_nudge &) = delete;

  private:
    friend class deadline_heap;
    friend class timer;
    waiter &who_;
    const steady_clock::time_point when_;
    bool armed_ = true;
    // A pairing heap: each node's children are a list.
    timed_nudge *child_ = nullptr;
    timed_nudge *next_ = nullptr;     // sibling
    timed_nudge *previous_ = nullptr; // sibling, or parent of the first child
};

} // namespace fult::detail
