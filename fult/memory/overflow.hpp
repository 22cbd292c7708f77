// Stack overflows: caught by the guard below the stack and reported with the task's name.
#pragma once

#include <csignal>

namespace fult::detail {

// Handles SIGSEGV and SIGBUS for the process while it lives. Other faults, and signals that were sent, are
// passed to the previous action.
class overflow_reports {
  public:
    overflow_reports() noexcept;
    ~overflow_reports();
    overflow_reports(const overflow_reports &) = delete;
    overflow_reports &operator=(const overflow_reports &) = delete;
};

// A stack for the signal handlers of the calling thread: an overflowed stack has no room for them.
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
