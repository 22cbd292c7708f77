// A lock for one writer or many readers, with a queue.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {

// As std::shared_timed_mutex (SharedTimedLockable), first come, first served: a reader that comes after a
// waiting writer waits behind it, and readers that stand next to each other are let in together. Waiting
// suspends a task and blocks a foreign thread; unlocking does neither. From any thread. Not recursive.
// The next owner may destroy it, if nobody else will use it: the unlock that let it in is done with it.
class FULT_API shared_qlock {
  public:
    // Nobody owns it.
    constexpr shared_qlock() noexcept = default;
    shared_qlock(const shared_qlock &) = delete;
    shared_qlock &operator=(const shared_qlock &) = delete;

    // Waits until it owns the lock alone, as a writer.
    void lock() noexcept {
        if (!take_open())
            wait_for_turn(true, detail::wait_limits());
    }
    // Takes the lock as a writer if nobody owns it; whether it did. Every 256th failing try on a worker lets
    // others run, as qlock::try_lock.
    bool try_lock() noexcept { return take_open() || (detail::let_others_run_at_times() && take_open()); }
    // Lets in who is first in the queue. Ends the program where no writer owns it.
    void unlock() noexcept;

    // Waits until it owns the lock as a reader, beside other readers.
    void lock_shared() noexcept {
        if (!take_open_shared())
            wait_for_turn(false, detail::wait_limits());
    }
    // Takes the lock as a reader if no writer owns it and nobody waits; whether it did. Every 256th failing
    // try on a worker lets others run, as qlock::try_lock.
    bool try_lock_shared() noexcept {
        return take_open_shared() || (detail::let_others_run_at_times() && take_open_shared());
    }
    // The last reader lets in who is first in the queue. Ends the program where no reader owns it.
    void unlock_shared() noexcept;

    // As lock, for so long at most: false then. Throws std::system_error where a runtime's first timed
    // wait lacks memory, as do all that follow.
    template <class Rep, class Period> bool try_lock_for(const std::chrono::duration<Rep, Period> &duration) {
        return take_open() || wait_for_turn(true, detail::wait_limits(detail::deadline_after(duration)));
    }
    // As try_lock_for, until a time of any clock.
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
        return take_open() || detail::attempt_until(time, [this](auto deadline) {
                   return wait_for_turn(true, detail::wait_limits(deadline));
               });
    }
    // As lock_shared, for so long at most: false then.
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &duration) {
        return take_open_shared() ||
               wait_for_turn(false, detail::wait_limits(detail::deadline_after(duration)));
    }
    // As try_lock_shared_for, until a time of any clock.
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time) {
        return take_open_shared() || detail::attempt_until(time, [this](auto deadline) {
                   return wait_for_turn(false, detail::wait_limits(deadline));
               });
    }
    // As lock, until a stop is requested: false then.
    bool lock(const std::stop_token &stop) {
        return take_open() || wait_for_turn(true, detail::wait_limits(stop));
    }
    // As lock_shared, until a stop is requested: false then.
    bool lock_shared(const std::stop_token &stop) {
        return take_open_shared() || wait_for_turn(false, detail::wait_limits(stop));
    }

  private:
    static constexpr std::uint64_t writing = 1, wanted = 2, reader = 4; // then the number of readers

    bool take_open() noexcept {
        std::uint64_t seen = 0;
        return word_.compare_exchange_strong(seen, writing,
                                             std::memory_order_acquire, // pairs with both unlocks
                                             std::memory_order_relaxed);
    }
    bool take_open_shared() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        while ((seen & (writing | wanted)) == 0)
            if (word_.compare_exchange_weak(seen, seen + reader,
                                            std::memory_order_acquire, // pairs with unlock
                                            std::memory_order_relaxed))
                return true;
        return false;
    }
    bool wait_for_turn(bool write, const detail::wait_limits &limits);
    void admit(detail::wait_chain &turn) noexcept;

    std::atomic<std::uint64_t> word_{0};
    detail::short_lock lock_; // while `wanted`, its holder alone lets others in
    detail::wait_list queue_;
};

} // namespace fult
