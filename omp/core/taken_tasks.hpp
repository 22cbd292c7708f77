// What a thread learns of tasks with dependences that it takes from another thread, the one that generates
// them. The way of such a task costs that thread some hundred nanoseconds too: its memory, its node and the
// table of its parent change hands, and while it is away, what follows it queues up. While they take less
// than that, this thread takes few of them, and hands what becomes ready back.
#pragma once

#include <cstdint>

#include <fult/loops/ticks.hpp>

namespace fult::omp {

class taken_tasks {
  public:
    static constexpr unsigned no_worker = ~0u;

    void ran(std::uint64_t ticks) noexcept; // one has ended after so many
    bool are_small() const noexcept { return average_ < worth_taking; }
    // Successors are for the thread that generates them: it makes progress, and takes them itself.
    bool go_back() const noexcept { return are_small() && !home_is_still_; }
    // Before the next one of that worker, or of a foreign thread. Shorter if this worker has something else
    // to do, or the other one makes no scheduling decision: it computes, and what it has generated is left to
    // others.
    void pause(unsigned home) noexcept;

  private:
    static constexpr auto worth_taking = static_cast<std::uint64_t>(detail::ticks_worth_a_task / 2);

    std::uint64_t average_ = 0; // ticks
    unsigned steps_ = 1;        // of the next pause
    bool home_is_still_ = false;
};

} // namespace fult::omp
