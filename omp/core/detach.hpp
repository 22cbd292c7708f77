// Detached tasks: one is complete when its body has ended and its event is fulfilled, whichever is later.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/assertion.hpp>

#include "frame.hpp"

namespace fult::omp {

class detach_event {
  public:
    explicit detach_event(frame *f) noexcept : of_(f) {}
    // Called by the end of the body and by the fulfilment; true for the later one, which completes the task.
    bool is_second() noexcept {
        const unsigned before = steps_.fetch_add(1, std::memory_order_acq_rel);
        FULT_ASSERT(before < 2, "an event is fulfilled once");
        return before == 1;
    }
    // Of the later one.
    frame *of() const noexcept { return of_; } // null: the task was discarded
    void discard() noexcept { of_ = nullptr; }

  private:
    frame *of_;
    std::atomic<unsigned> steps_{0};
};

detach_event *make_event(frame *f);
inline bool has_event(const frame *f) noexcept { return f->more && f->more->event; }
void fulfill(detach_event *e) noexcept; // from any thread
void end_body_with_event(frame *f) noexcept;
// The task does not start, as it was cancelled: it completes without its event, which may never be fulfilled.
void discard_event(frame *f) noexcept;

} // namespace fult::omp
