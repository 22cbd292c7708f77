// Stack overflows: caught by the guard page, reported with the task's name.
#pragma once

#include <csignal>

namespace fult::detail {

// Handles SIGSEGV and SIGBUS for the process while it lives; faults that are no overflow, and signals
// that were sent, go on to the action that was there before.
class overflow_reports {
  public:
    overflow_reports() noexcept;
    ~overflow_reports();
    overflow_reports(const overflow_reports &) = delete;
    overflow_reports &operator=(const overflow_reports &) = delete;
};

// A stack for the calling thread's signal handlers: the overflowed one has no room.
class signal_stack {
  public:
    signal_stack() noexcept;
    ~signal_stack();
    signal_stack(const signal_stack &) = delete;
    signal_stack &operator=(const signal_stack &) = delete;

  private:
    stack_t before_{};
    void *memory_ = nullptr;
};

} // namespace fult::detail
