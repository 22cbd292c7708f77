// Foreign threads that wait. Each is a poller like any worker with nothing to run: while no worker looks for
// work or watches, one of them watches the services for all, and polling is handed on when it leaves.
#pragma once

#include <atomic>
#include <cstdint>

#include "spin_lock.hpp"

namespace fult::detail {

struct team;

// One wait of a foreign thread, on its stack.
class thread_wait {
  public:
    thread_wait() = default;
    thread_wait(const thread_wait &) = delete;
    thread_wait &operator=(const thread_wait &) = delete;

    virtual bool is_asleep() const noexcept = 0;
    // Blocks until it no longer is.
    virtual void sleep() noexcept = 0;
    // Between these two, whoever wakes it rings the bell (parker.hpp). False: it is awake by now.
    virtual bool begin_sleep_at_bell() noexcept = 0;
    virtual void end_sleep_at_bell() noexcept = 0;
    // By another thread: makes sleep() return; false: it is awake by now, or at the bell.
    virtual bool rouse() noexcept = 0;
    // In nanoseconds of the steady clock.
    virtual std::int64_t deadline() const noexcept = 0;

  protected:
    ~thread_wait() = default;

  private:
    friend class thread_waits;
    thread_wait *next_ = nullptr;
    thread_wait *previous_ = nullptr;
};

// Of all runtimes: such threads may wait while none runs.
class thread_waits {
  public:
    bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; } // pairs with add
    void add(thread_wait &w) noexcept;
    void remove(thread_wait &w) noexcept;
    bool rouse_one() noexcept; // false: all are awake, or there are none

  private:
    spin_lock lock_;
    thread_wait *first_ = nullptr;
    std::atomic<unsigned> count_{0};
};

extern constinit thread_waits waiting_threads;

// The calling thread, which is no worker, sleeps or watches; afterwards it looks again whether it has what it
// waits for.
void sleep_or_watch(thread_wait &w) noexcept;

// By whoever leaves off polling: somebody else takes over, if nobody has.
void hand_polling_on(team &crew) noexcept;

} // namespace fult::detail
