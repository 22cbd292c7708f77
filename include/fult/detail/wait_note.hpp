// What a task waits for, told where it really parks and read by who looks inside (fult/inspect.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult::detail {

// A kind ("qlock"; it lives as long as the wait) and the object of it; none where it is not known. Or who
// puts the object into words, when somebody asks: to wait costs no text.
struct waiting_for {
    const char *what = nullptr;
    const void *object = nullptr;
    void (*tell)(const void *object, char *text, std::size_t size) noexcept = nullptr;
};

// While it lives, on the stack of the running task `self`, this task waits for that. The descriptor keeps the
// low half of its address, which is enough: it lies less than 4 GiB above the saved registers. `what` must
// live as long. tools/gdb/fult.py reads the pointer to it, which comes first, and its first two members.
class wait_note {
  public:
    // `timed`: a time or a stop request may end the wait, too. self null, on a thread that runs no task: does
    // nothing.
    wait_note(task *self, const waiting_for &what, bool timed = false) noexcept
        : what_(&what), self_(self), timed_(timed) {
        if (self)
            self->note = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(this));
    }
    ~wait_note() {
        if (self_)
            self_->note = 0;
    }
    wait_note(const wait_note &) = delete;
    wait_note &operator=(const wait_note &) = delete;

    const waiting_for &what() const noexcept { return *what_; }
    bool timed() const noexcept { return timed_; }

  private:
    const waiting_for *what_;
    task *self_;
    bool timed_;
};

} // namespace fult::detail
