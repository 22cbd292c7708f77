// A report of all tasks when a signal arrives (option dump_signal).
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace fult::detail {

// Reports on the signal while it lives. The handler only wakes a thread, which writes to standard error. It
// stays afterwards, where the program has none of its own, and says that no runtime is running, until the
// next runtime starts; it is there from the library's start where FULT_DUMP_SIGNAL names the signal.
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

// Whether this signal has the handler from here. From any thread.
bool is_dump_signal(int number) noexcept;

} // namespace fult::detail
