// Counts what a worker does until other tasks must get a turn (docs/scheduler.md, "What is a decision").
#pragma once

#include <atomic>
#include <cstdint>

namespace fult::detail {

class decision_count {
  public:
    std::uint32_t next() noexcept { // counts a decision
        const std::uint32_t next = count() + 1;
        count_.store(next, std::memory_order_relaxed);
        return next;
    }
    std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); } // any thread

    // Every 32nd decision is one for fairness.
    bool is_next_fair() const noexcept { return (count() + 1) % fairness == 0; }
    bool is_fair() noexcept { return next() % fairness == 0; } // counts it

    // Each counts; true if others must get a turn.
    bool count_poll() noexcept { return ++polls_ % long_poll == 0; }       // a wait that ended while polling
    bool count_failure() noexcept { return ++failures_ % long_poll == 0; } // a try
    bool count_row() noexcept { return ++rows_ % row_starts == 0; }        // unstarted tasks, too

  private:
    static constexpr std::uint32_t fairness = 32;
    static constexpr std::uint32_t long_poll = 256;
    // One row of inline joins in this many may start an unstarted task: most of those belong to the same
    // tree, and its joins would run them inline.
    static constexpr std::uint32_t row_starts = 16;

    std::atomic<std::uint32_t> count_{0}; // written by its worker only
    std::uint32_t polls_ = 0, failures_ = 0, rows_ = 0;
};

} // namespace fult::detail
