// Detached tasks: one is complete when its body has ended and its event is fulfilled, whichever is later.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/assertion.hpp>

#include "omp_task.hpp"

namespace fult::omp {

class detach_event {
  public:
    explicit detach_event(omp_task *f) noexcept : task_(f) {}
    // Called by the end of the body and by the fulfilment; true for the later one, which completes the task.
    bool is_second() noexcept {
        const unsigned before = steps_.fetch_add(1, std::memory_order_acq_rel);
        FULT_ASSERT(before < 2, "an event is fulfilled once");
        return before == 1;
    }
    // Of the later one.
    omp_task *task() const noexcept { return task_; } // null: the task was discarded
    void discard() noexcept { task_ = nullptr; }

  private:
    omp_task *task_;
    std::atomic<unsigned> steps_{0};
};

detach_event *make_event(omp_task *f);
inline bool has_event(const omp_task *f) noexcept { return f->more && f->more->event; }
void fulfill(detach_event *e) noexcept; // from any thread
void end_body_with_event(omp_task *f) noexcept;
// The task does not start, as it was cancelled: it completes without its event, which may never be fulfilled.
void discard_event(omp_task *f) noexcept;

} // namespace fult::omp
