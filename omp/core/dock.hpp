// A member of a team that has ended stays on its thread for a moment: the next region starts one there by a
// store, without the scheduler. Model: tests/model/dock.pml.
#pragma once

#include <atomic>

#include <fult/detail/assertion.hpp>

namespace fult::omp {

struct frame;

// Of one worker.
class dock {
  public:
    // By a thread that opens a region. Returns true if a docked task runs f.
    bool offer(frame *f) noexcept {
        FULT_ASSERT(f && f != waits());
        frame *expected = waits();
        return state_.load(std::memory_order_relaxed) == expected &&
               state_.compare_exchange_strong(expected, f, std::memory_order_acq_rel); // pairs with await
    }
    // By the docked task, on the worker. Waits a few microseconds, and only while no other task is ready
    // there. Returns the next frame to run; null: the task should end.
    frame *await() noexcept;

  private:
    // The address of no frame.
    static frame *waits() noexcept { return reinterpret_cast<frame *>(&mark_); }
    alignas(16) static inline char mark_ = 0;

    // waits(): a task is docked. Else none is; the word may hold the last frame that was offered.
    std::atomic<frame *> state_{nullptr};
};

} // namespace fult::omp
