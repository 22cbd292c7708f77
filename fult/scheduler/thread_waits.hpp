// Waits of foreign threads. Each is a poller like any idle worker: while no worker searches or watches, one
// of them watches the services for all. When it leaves, it hands off polling.
#pragma once

#include <atomic>
#include <cstdint>

#include "fult/base/spin_lock.hpp"

namespace fult::detail {

class parker;
struct worker_team;

// One wait of a foreign thread, on its stack.
class thread_wait {
  public:
    thread_wait() = default;
    thread_wait(const thread_wait &) = delete;
    thread_wait &operator=(const thread_wait &) = delete;

    virtual bool is_asleep() const noexcept = 0;
    // Blocks while is_asleep().
    virtual void sleep() noexcept = 0;
    // Between these two calls, the waking thread rings the bell (parker.hpp). Returns false if it is awake
    // already.
    virtual bool begin_sleep_at_bell() noexcept = 0;
    virtual void end_sleep_at_bell() noexcept = 0;
    // Called by another thread: makes sleep() return. Returns false if it is awake already, or at the bell.
    virtual bool unpark() noexcept = 0;
    // In nanoseconds of the steady clock.
    virtual std::int64_t deadline() const noexcept = 0;

  protected:
    ~thread_wait() = default;

  private:
    friend class thread_waits;
    thread_wait *next_ = nullptr;
    thread_wait *previous_ = nullptr;
};

// For all runtimes: such threads may wait while none is running.
class thread_waits {
  public:
    bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; } // pairs with add
    void add(thread_wait &w) noexcept;
    void remove(thread_wait &w) noexcept;
    bool unpark_one() noexcept; // false: all are awake, or there are none

  private:
    spin_lock lock_;
    thread_wait *first_ = nullptr;
    std::atomic<unsigned> count_{0};
};

extern constinit thread_waits waiting_threads;

// The calling foreign thread sleeps or watches. Afterwards it must check its condition again.
void sleep_or_watch(thread_wait &w) noexcept;

// The same for the post to a parker, whose argument for wait is `prepared`. Returns after the post only.
void wait_for_post(parker &until, std::uint32_t prepared) noexcept;

// Called by a thread that stops polling: another one takes over, unless one polls already.
void hand_off_polling(worker_team &team) noexcept;

} // namespace fult::detail
