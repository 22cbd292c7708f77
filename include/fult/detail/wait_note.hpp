// What a task waits for, told where it really parks and read by who looks inside (fult/inspect.hpp).
#pragma once

#include <cstddef>

#include <fult/detail/platform.hpp>

namespace fult::detail {

// A kind ("qlock"; it lives as long as the wait) and the object of it; none where it is not known. Or who
// puts the object into words, when somebody asks: to wait costs no text.
struct waiting_for {
    const char *what = nullptr;
    const void *object = nullptr;
    void (*tell)(const void *object, char *text, std::size_t size) noexcept = nullptr;
};

// While it lives, on the stack of the running task, this task waits for that. The descriptor keeps the low
// half of its address, which is enough: it lies less than 4 GiB above the saved registers.
class FULT_API wait_note {
  public:
    // `timed`: a time or a stop request may end the wait, too. Does nothing on a thread that runs no task.
    explicit wait_note(const waiting_for &what, bool timed = false) noexcept;
    ~wait_note();
    wait_note(const wait_note &) = delete;
    wait_note &operator=(const wait_note &) = delete;

    const waiting_for &what() const noexcept { return what_; }
    bool timed() const noexcept { return timed_; }

  private:
    waiting_for what_;
    bool timed_;
};

} // namespace fult::detail
