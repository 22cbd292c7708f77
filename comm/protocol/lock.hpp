// The lock of a device. It is held for short times, and never while user code runs.
#pragma once

#include <fult/detail/assertion.hpp>

#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

// Does what is due when the lock is released.
class unlock_hook {
  public:
    // Called under the lock; calls device_mutex::release.
    virtual void run_hook() noexcept = 0;

  protected:
    ~unlock_hook() = default;
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
        FULT_ASSERT(!is_due_ || hook_);
        if (is_due_) [[unlikely]]
            hook_->run_hook();
        else
            lock_.unlock();
    }

    // Under the lock.
    void mark_due() noexcept { is_due_ = true; }
    // For the hook: nothing is due.
    void release() noexcept {
        is_due_ = false;
        lock_.unlock();
    }
    // Once, before anything is due.
    void set_hook(unlock_hook &hook) noexcept { hook_ = &hook; }

  private:
    fult::detail::spin_lock lock_;
    bool is_due_ = false;
    unlock_hook *hook_ = nullptr;
};

} // namespace fult::comm::detail
