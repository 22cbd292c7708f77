// What a task waits for: recorded where it suspends, read by the inspector (fult/inspect.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

enum class wait_text { kind, how_far };

// The kind of a wait ("qlock"; must live as long as the wait) and its object, or nullptr if unknown.
// `describe`, if set, formats the object on request: a wait itself formats no text. It writes how far the
// object is, or nothing; and the kind, if there is none above.
struct waiting_for {
    const char *what = nullptr;
    const void *object = nullptr;
    void (*describe)(const void *object, wait_text which, char *text, std::size_t size) noexcept = nullptr;
};

// Records the wait of the running task `self` while it lives, on that task's stack. The descriptor stores the
// low half of its address, which is sufficient: it is less than 4 GiB above the saved registers. `what` must
// live as long. tools/gdb/fult.py reads the pointer to it, which comes first, and its first two members.
class wait_record {
  public:
    // `timed`: a time or a stop request may end the wait, too. If self is null (no task is running), does
    // nothing.
    wait_record(task *self, const waiting_for &what, bool timed = false) noexcept
        : what_(&what), self_(self), timed_(timed) {
        if (self)
            self->wait_record = static_cast<std::uint32_t>(address_of(this));
    }
    ~wait_record() {
        if (self_)
            self_->wait_record = 0;
    }
    wait_record(const wait_record &) = delete;
    wait_record &operator=(const wait_record &) = delete;

    const waiting_for &what() const noexcept { return *what_; }
    bool timed() const noexcept { return timed_; }

  private:
    const waiting_for *what_;
    task *self_;
    bool timed_;
};

} // namespace fult::detail
