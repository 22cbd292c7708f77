/// @file
/// A condition variable for any lock.
#pragma once

#include <chrono>
#include <condition_variable> // std::cv_status
#include <stop_token>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/waiter.hpp>

namespace fult {

using std::cv_status;

/// Like std::condition_variable_any: accepts any BasicLockable, std::unique_lock<qlock> as well as the lock
/// itself. Waiters are notified first come, first served. Each wait returns because of its own notification,
/// a timeout or a stop request; there are no spurious returns. Waiting suspends a task and blocks a foreign
/// thread; notifying does neither. All calls are from any thread. It may be destroyed once every waiter has
/// been notified and every wait with a limit has returned.
class FULT_API condition_variable {
  public:
    /// Has no waiters.
    constexpr condition_variable() noexcept = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    /// Wakes the first waiter, if there is one.
    void notify_one() noexcept;
    /// Wakes all present waiters.
    void notify_all() noexcept;

    /// Unlocks, waits for a notification, locks again. No notification after the unlock is missed. Throws
    /// what the lock's own calls throw; so do all that follow.
    template <class Lock> void wait(Lock &lock) { wait_within(lock, detail::wait_limits()); }
    /// Waits until the condition holds; the condition is evaluated under the lock. Also throws what the
    /// condition throws; the lock is held then.
    template <class Lock, class Condition> void wait(Lock &lock, Condition condition) {
        while (!condition())
            wait(lock);
    }
    /// As above, until a stop is requested. Returns whether the condition holds.
    template <class Lock, class Condition> bool wait(Lock &lock, std::stop_token stop, Condition condition) {
        // Also where a stop was requested before: that wait ends at once, after others could run.
        while (!condition())
            if (!wait_within(lock, detail::wait_limits(stop)))
                return condition();
        return true;
    }

    /// Waits for a notification until a time of any clock; locks again in either case. Throws
    /// std::system_error if the memory for a runtime's first timed wait cannot be allocated; so do all that
    /// follow.
    template <class Lock, class Clock, class Duration>
    cv_status wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &time) {
        const bool notified = wait_within(lock, detail::wait_limits(detail::steady_deadline(time)));
        // By another clock it may have been too early; a second wait could miss a notification in between.
        return notified || !detail::has_come(time) ? cv_status::no_timeout : cv_status::timeout;
    }
    /// The same, for at most the duration.
    template <class Lock, class Rep, class Period>
    cv_status wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &duration) {
        return wait_until(lock, detail::deadline_after(duration));
    }
    /// Waits until the condition holds, but not beyond a time. Returns whether the condition holds.
    template <class Lock, class Clock, class Duration, class Condition>
    bool wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &time, Condition condition) {
        while (!condition())
            if (wait_until(lock, time) == cv_status::timeout)
                return condition();
        return true;
    }
    /// The same, for at most the duration.
    template <class Lock, class Rep, class Period, class Condition>
    bool wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &duration, Condition condition) {
        return wait_until(lock, detail::deadline_after(duration), std::move(condition));
    }
    /// Waits until the condition holds, but not beyond a time or a stop request. Returns whether the
    /// condition holds.
    template <class Lock, class Clock, class Duration, class Condition>
    bool wait_until(Lock &lock, std::stop_token stop, const std::chrono::time_point<Clock, Duration> &time,
                    Condition condition) {
        while (!condition()) {
            const bool notified = wait_within(lock, detail::wait_limits(stop, detail::steady_deadline(time)));
            if (!notified && (stop.stop_requested() || detail::has_come(time)))
                return condition();
        }
        return true;
    }
    /// The same, for at most the duration.
    template <class Lock, class Rep, class Period, class Condition>
    bool wait_for(Lock &lock, std::stop_token stop, const std::chrono::duration<Rep, Period> &duration,
                  Condition condition) {
        return wait_until(lock, std::move(stop), detail::deadline_after(duration), std::move(condition));
    }

  private:
    /// Locks again on every exit from the wait.
    template <class Lock> struct relocking {
        Lock &lock;
        ~relocking() noexcept(false) { lock.lock(); }
    };

    template <class Lock> bool wait_within(Lock &lock, const detail::wait_limits &limits) {
        detail::waiter self;
        enter(self); // before the unlock: a later notification finds this waiter
        FULT_TRY { lock.unlock(); }
        FULT_CATCH_ALL { // it was not locked
            detail::leave_queue(lock_, waiters_, self);
            FULT_RETHROW;
        }
        relocking<Lock> at_end{lock};
        return self.wait(limits, {"condition_variable", this}) || !detail::leave_queue(lock_, waiters_, self);
    }
    void enter(detail::waiter &self) noexcept;

    detail::spin_lock lock_;
    detail::wait_list waiters_;
};

} // namespace fult
