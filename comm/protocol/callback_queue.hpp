// User code that becomes due under a device's lock: message handlers and completions. It runs after the lock
// has been released, in order, on one thread at a time. So it may call anything that does not wait, and finds
// no operation of the device half done.
#pragma once

#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/base/linked_queue.hpp"
#include "comm/protocol/lock.hpp"

namespace fult::comm::detail {

struct callback {
    callback *next_callback = nullptr;
    void (*run)(callback &) noexcept = nullptr; // may free the object
};

// Under the device's lock, unless stated otherwise.
class callback_queue {
  public:
    explicit callback_queue(device_mutex &mutex) noexcept : mutex_(mutex) {}
    callback_queue(const callback_queue &) = delete;
    callback_queue &operator=(const callback_queue &) = delete;

    void add(callback &c) noexcept {
        FULT_ASSERT(c.run);
        due_.append(c);
        mutex_.mark_due();
    }
    // True if none is due and none runs.
    bool is_idle() const noexcept { return due_.empty() && !is_running_; }

    // Both return what the caller runs next, or nullptr: it runs none from now on. begin returns nullptr also
    // if they run already, possibly below the caller.
    callback *begin() noexcept { return is_running_ ? nullptr : take(); }
    callback *take() noexcept {
        is_running_ = !due_.empty();
        return due_.take_all();
    }
    // Without the lock.
    static void run(callback *first) noexcept {
        while (first) {
            callback &c = *std::exchange(first, first->next_callback);
            c.run(c);
        }
    }

  private:
    device_mutex &mutex_;
    linked_queue<callback, &callback::next_callback> due_;
    bool is_running_ = false;
};

} // namespace fult::comm::detail
