// A report of all tasks when a signal arrives (option dump_signal).
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace fult::detail {

// Writes a report on the signal, while it lives. The handler only wakes a thread, which writes to standard
// error. If the program has no handler of its own, the handler stays installed afterwards and reports that no
// runtime is running. If FULT_DUMP_SIGNAL names the signal, the handler is installed when the library is
// loaded.
class dump_on_signal {
  public:
    // 0: does nothing. Throws std::system_error if a thread or a descriptor cannot be created. `helpers`
    // counts the threads of the runtime that run no tasks.
    dump_on_signal(int number, std::atomic<unsigned> &helpers);
    ~dump_on_signal();
    dump_on_signal(const dump_on_signal &) = delete;
    dump_on_signal &operator=(const dump_on_signal &) = delete;

  private:
    int number_ = 0;
    struct sigaction previous_ {};
    std::thread writer_;
};

// In the child of a fork, whose parent's runtime writes the reports.
void forget_dump_signal() noexcept;

// True if this signal has the handler installed here. From any thread.
bool is_dump_signal(int number) noexcept;

} // namespace fult::detail
