// The sleep of the thread that polls a device: what it sleeps on, and how others wake it.
#pragma once

#include <atomic>
#include <memory>
#include <span>

#include "comm/shared/bells.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

class device_sleep {
  public:
    device_sleep() = default;
    device_sleep(const device_sleep &) = delete;
    device_sleep &operator=(const device_sleep &) = delete;
    ~device_sleep();

    // Once, before the first sleep: opens the descriptor. Throws std::system_error.
    void open(std::span<const std::unique_ptr<transport>> transports, std::unique_ptr<doorbells> bells);

    int descriptor() const noexcept { return descriptor_; }
    int patience() const noexcept { return pressed_ ? 1 : patience_; } // milliseconds
    // A dedicated thread makes progress; the workers need not.
    void serve_apart() noexcept { apart_ = true; }
    // Any thread: wakes the sleeping poller, or makes its next sleep return at once.
    void wake() noexcept;

    // The poller, in this order; end also if it does not sleep after begin.
    void begin() noexcept;
    void announce(bool pressed) noexcept; // under the lock. pressed: something waits without a signal
    void end() noexcept;
    // It slept until its patience ended. waits: something has waited for that.
    void timed_out(bool waits) noexcept;
    unsigned overslept() const noexcept { return overslept_.load(std::memory_order_relaxed); }

    // Under the device's lock:

    // Called after leaving work that the sleeper does not know of.
    void press() noexcept {
        if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
            press_sleeper();
    }
    // A message for that rank is written.
    void ring(int rank) noexcept {
        if (bells_)
            bells_->ring(rank);
    }
    // True if the only thread that would poll sleeps.
    bool is_server_asleep() const noexcept { return apart_ && asleep_.load(std::memory_order_relaxed); }

  private:
    void press_sleeper() noexcept;

    std::unique_ptr<doorbells> bells_;
    int descriptor_ = -1;
    int wake_ = -1; // an eventfd in the descriptor
    int patience_ = 1;
    bool pressed_ = false;
    bool apart_ = false;
    std::atomic<bool> asleep_{false}; // set under the lock; threads that leave work behind wake the sleeper
    std::atomic<unsigned> overslept_{0};
};

} // namespace fult::comm::detail
