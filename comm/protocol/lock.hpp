// The lock of a device. It is held for short times, and never while user code runs.
#pragma once

#include <fult/detail/assertion.hpp>

#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// What is due when the lock is released.
class lock_duties {
  public:
    // Called under the lock; calls device_mutex::release.
    virtual void settle() noexcept = 0;

  protected:
    ~lock_duties() = default;
};

// Lockable: for std::lock_guard.
class device_mutex {
  public:
    device_mutex() = default;
    device_mutex(const device_mutex &) = delete;
    device_mutex &operator=(const device_mutex &) = delete;

    bool try_lock() noexcept { return lock_.try_lock(); }
    void lock() noexcept { lock_.lock(); }
    void unlock() noexcept {
        FULT_ASSERT(!is_due_ || duties_);
        if (is_due_) [[unlikely]]
            duties_->settle();
        else
            lock_.unlock();
    }

    // Under the lock.
    void note_duty() noexcept { is_due_ = true; }
    // For the duties: nothing is due.
    void release() noexcept {
        is_due_ = false;
        lock_.unlock();
    }
    // Once, before the first duty.
    void set_duties(lock_duties &duties) noexcept { duties_ = &duties; }

  private:
    fult::detail::spin_lock lock_;
    bool is_due_ = false;
    lock_duties *duties_ = nullptr;
};

} // namespace fult::comm::detail
