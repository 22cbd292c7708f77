// Stack overflows, caught by the guard below the stack, and other faults that end the program: reported with
// the task's name.
#pragma once

#include <csignal>

namespace fult::detail {

// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT for the process while it lives. An overflow is reported
// in any case, another fault of a task, or its call of abort, if it ends the program: where the program has a
// handler, it may be no error. An abort whose reason the library has printed is not. All signals go on to the
// previous action.
class fault_reports {
  public:
    fault_reports() noexcept;
    ~fault_reports();
    fault_reports(const fault_reports &) = delete;
    fault_reports &operator=(const fault_reports &) = delete;
};

// A stack for the signal handlers of the calling thread: an overflowed stack has no room for them.
class signal_stack {
  public:
    signal_stack() noexcept;
    ~signal_stack();
    signal_stack(const signal_stack &) = delete;
    signal_stack &operator=(const signal_stack &) = delete;

  private:
    stack_t previous_{};
    void *memory_ = nullptr;
};

} // namespace fult::detail
