// The lock of a device. It is held for short times.
#pragma once

#include <atomic>

#include <fult/detail/platform.hpp>

#include "comm/match/spin.hpp"

namespace fult::comm::detail {

// What is due when the lock is released.
class lock_duties {
  public:
    virtual void settle() noexcept = 0; // under the lock

  protected:
    ~lock_duties() = default;
};

// Recursive. Lockable: for std::lock_guard.
class device_mutex {
  public:
    device_mutex() = default;
    device_mutex(const device_mutex &) = delete;
    device_mutex &operator=(const device_mutex &) = delete;

    bool try_lock() noexcept {
        const void *nobody = nullptr;
        const void *me = fult::detail::this_thread();
        if (holder_.load(std::memory_order_relaxed) == me ||
            (holder_.load(std::memory_order_relaxed) == nullptr &&
             holder_.compare_exchange_strong(nobody, me, std::memory_order_acquire))) { // pairs with unlock
            ++depth_;
            return true;
        }
        return false;
    }
    void lock() noexcept {
        spin_wait wait;
        while (!try_lock())
            wait();
    }
    void unlock() noexcept {
        while (depth_ == 1 && is_due_) {
            is_due_ = false;
            duties_->settle();
        }
        if (--depth_ == 0)
            holder_.store(nullptr, std::memory_order_release);
    }

    // Under the lock.
    bool is_nested() const noexcept { return depth_ > 1; }
    void note_duty() noexcept { is_due_ = true; }
    // Once, before the first duty.
    void set_duties(lock_duties &duties) noexcept { duties_ = &duties; }

  private:
    std::atomic<const void *> holder_{nullptr}; // the owning thread
    unsigned depth_ = 0;
    bool is_due_ = false;
    lock_duties *duties_ = nullptr;
};

} // namespace fult::comm::detail
