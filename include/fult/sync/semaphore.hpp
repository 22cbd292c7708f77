/// @file
/// Semaphores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

#include <fult/detail/waiter.hpp>

namespace fult {
/// @cond internal
namespace detail {

class FULT_API semaphore_base {
  public:
    constexpr semaphore_base(std::ptrdiff_t count, std::ptrdiff_t most) noexcept
        : count_(count), most_(most) {}
    semaphore_base(const semaphore_base &) = delete;
    semaphore_base &operator=(const semaphore_base &) = delete;

    [[nodiscard]] bool try_acquire() noexcept {
        std::ptrdiff_t seen = count_.load(std::memory_order_relaxed);
        while (seen > 0)
            if (count_.compare_exchange_weak(seen, seen - 1, std::memory_order_acquire, // pairs with release
                                             std::memory_order_relaxed))
                return true;
        return false;
    }
    bool acquire(const wait_limits &limits);
    void release(std::ptrdiff_t update) noexcept;

  private:
    static constexpr std::ptrdiff_t contended = -1; // the count is zero, and there are waiters
    std::atomic<std::ptrdiff_t> count_;
    const std::ptrdiff_t most_;
    spin_lock lock_;
    wait_list waiters_;
};
} // namespace detail
/// @endcond

/// Like std::counting_semaphore; waiters are served first come, first served. Acquiring suspends a task and
/// blocks a foreign thread. All calls are from any thread. A thread that has acquired may destroy it if no
/// other thread will use it: the release that served it no longer uses the semaphore.
template <std::ptrdiff_t LeastMax = (std::numeric_limits<std::ptrdiff_t>::max)()> class counting_semaphore {
    static_assert(LeastMax >= 0);

  public:
    /// The largest count.
    static constexpr std::ptrdiff_t(max)() noexcept { return LeastMax; }

    /// The initial count; ends the program if it is negative or above max().
    constexpr explicit counting_semaphore(std::ptrdiff_t desired) noexcept : base_(desired, LeastMax) {
        if (desired < 0 || desired > LeastMax)
            detail::misuse("counting_semaphore", "the initial count is negative or above max()");
    }

    /// Waits until the count is positive and decrements it.
    void acquire() noexcept {
        if (!base_.try_acquire())
            base_.acquire(detail::wait_limits());
    }
    /// Decrements the count if it is positive; returns whether it did. Does not suspend.
    [[nodiscard]] bool try_acquire() noexcept { return base_.try_acquire(); }
    /// Increments the count by `update`. Does not suspend. Ends the program if that is negative or the count
    /// would exceed max().
    void release(std::ptrdiff_t update = 1) noexcept { base_.release(update); }

    /// As acquire; false on timeout. Throws std::system_error if the memory for a runtime's first
    /// timed wait cannot be allocated.
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period> &duration) {
        return base_.try_acquire() || base_.acquire(detail::wait_limits(detail::deadline_after(duration)));
    }
    /// As try_acquire_for, with a time of any clock.
    template <class Clock, class Duration>
    [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &time) {
        return base_.try_acquire() || detail::attempt_until(time, [this](auto deadline) {
                   return base_.acquire(detail::wait_limits(deadline));
               });
    }
    /// As acquire; false if a stop is requested.
    [[nodiscard]] bool acquire(const std::stop_token &stop) {
        return base_.try_acquire() || base_.acquire(detail::wait_limits(stop));
    }

  private:
    detail::semaphore_base base_;
};

/// A counting_semaphore with a maximum of one.
using binary_semaphore = counting_semaphore<1>;

} // namespace fult
