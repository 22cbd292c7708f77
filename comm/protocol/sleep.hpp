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
    int patience() const noexcept { return is_urgent_ ? 1 : patience_; } // milliseconds
    // A dedicated thread makes progress; the workers need not.
    void set_dedicated() noexcept { is_dedicated_ = true; }
    // Any thread: wakes the sleeping poller, or makes its next sleep return at once.
    void wake() noexcept;

    // The poller, in this order; end also if it does not sleep after begin.
    void begin() noexcept;
    void announce(bool urgent) noexcept; // under the lock. urgent: something waits without a signal
    void end() noexcept;
    // It slept until its patience ended. waits: something has waited for that.
    void timed_out(bool waits) noexcept;
    unsigned missed_wakeups() const noexcept { return missed_wakeups_.load(std::memory_order_relaxed); }

    // Under the device's lock:

    // Called after leaving work that the sleeper does not know of.
    void interrupt() noexcept {
        if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
            wake_sleeper();
    }
    // A message for that rank is written.
    void ring(int rank) noexcept {
        if (bells_)
            bells_->ring(rank);
    }
    // True if the only thread that would poll sleeps.
    bool is_server_asleep() const noexcept {
        return is_dedicated_ && asleep_.load(std::memory_order_relaxed);
    }

  private:
    void wake_sleeper() noexcept;

    std::unique_ptr<doorbells> bells_;
    int descriptor_ = -1;
    int wake_event_ = -1; // an eventfd in the descriptor
    int patience_ = 1;
    bool is_urgent_ = false;
    bool is_dedicated_ = false;
    std::atomic<bool> asleep_{false}; // set under the lock; threads that leave work behind wake the sleeper
    std::atomic<unsigned> missed_wakeups_{0};
};

} // namespace fult::comm::detail
