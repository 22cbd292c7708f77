// A report of all tasks when a signal arrives (option dump_signal).
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace fult::detail {

// Handles the signal while it lives. The handler only wakes a thread, which writes to standard error.
class dump_on_signal {
  public:
    // 0: does nothing. Throws std::system_error where a thread or a descriptor is lacking. `helpers` counts
    // the threads of the runtime that run no tasks.
    dump_on_signal(int number, std::atomic<unsigned> &helpers);
    ~dump_on_signal();
    dump_on_signal(const dump_on_signal &) = delete;
    dump_on_signal &operator=(const dump_on_signal &) = delete;

  private:
    int number_ = 0;
    int asked_ = -1; // an eventfd
    struct sigaction before_ {};
    std::thread writer_;
};

} // namespace fult::detail
