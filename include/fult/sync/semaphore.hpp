// Semaphores.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {
namespace detail {

class FULT_API semaphore_base {
  public:
    constexpr semaphore_base(std::ptrdiff_t count, std::ptrdiff_t most) noexcept
        : count_(count), most_(most) {}
    semaphore_base(const semaphore_base &) = delete;
    semaphore_base &operator=(const semaphore_base &) = delete;

    bool try_acquire() noexcept {
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
    static constexpr std::ptrdiff_t wanted = -1; // nothing left, and somebody waits
    std::atomic<std::ptrdiff_t> count_;
    const std::ptrdiff_t most_;
    short_lock lock_;
    wait_list waiters_;
};
} // namespace detail

// As std::counting_semaphore; waiters are served first come, first served. Acquiring suspends a task and
// blocks a foreign thread. All calls are from any thread. Who has acquired may destroy it if
// nobody else will use it: the release that let it do so is done with the semaphore.
template <std::ptrdiff_t LeastMax = std::numeric_limits<std::ptrdiff_t>::max()> class counting_semaphore {
    static_assert(LeastMax >= 0);

  public:
    // The largest count.
    static constexpr std::ptrdiff_t max() noexcept { return LeastMax; }

    // With so many to be acquired; ends the program where that is negative or above max().
    constexpr explicit counting_semaphore(std::ptrdiff_t desired) noexcept : base_(desired, LeastMax) {
        if (desired < 0 || desired > LeastMax)
            detail::misuse("counting_semaphore", "the first count is negative or above max()");
    }

    // Waits until there is one, and takes it.
    void acquire() noexcept {
        if (!base_.try_acquire())
            base_.acquire(detail::wait_limits());
    }
    // Takes one if there is one; whether it did. Does not suspend.
    bool try_acquire() noexcept { return base_.try_acquire(); }
    // Gives so many back. Does not suspend. Ends the program where that is negative, or the count would
    // exceed max().
    void release(std::ptrdiff_t update = 1) noexcept { base_.release(update); }

    // As acquire, for so long at most: false then. Throws std::system_error where a runtime's first timed
    // wait lacks memory.
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period> &duration) {
        return base_.try_acquire() || base_.acquire(detail::wait_limits(detail::deadline_after(duration)));
    }
    // As try_acquire_for, until a time of any clock.
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &time) {
        return base_.try_acquire() || detail::attempt_until(time, [this](auto deadline) {
                   return base_.acquire(detail::wait_limits(deadline));
               });
    }
    // As acquire, until a stop is requested: false then.
    bool acquire(const std::stop_token &stop) {
        return base_.try_acquire() || base_.acquire(detail::wait_limits(stop));
    }

  private:
    detail::semaphore_base base_;
};

// A counting_semaphore of one or none.
using binary_semaphore = counting_semaphore<1>;

} // namespace fult
