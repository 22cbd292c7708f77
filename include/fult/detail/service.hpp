// Sources of external events that workers poll between tasks, such as messages (fult-comm). Internal: for
// libraries of this project that are built on the runtime.
#pragma once

#include <cstdint>
#include <limits>

#include <fult/detail/platform.hpp>

namespace fult::detail {

class worker;

// Polled by workers when they have no task, every few scheduling decisions, and before they sleep.
class FULT_API service {
  public:
    // Handles pending events without blocking. Returns true if there were any. Called by any worker, by
    // several at a time, on the stack of the scheduling decision: must not suspend. May signal and spawn.
    virtual bool poll() noexcept = 0;

    // One idle worker at a time, the watcher, sleeps for all services. After prepare_sleep has returned true,
    // every event must make descriptor() readable or be able to wait for patience(); end_sleep follows.
    // prepare_sleep returns false if an event is pending: poll.
    virtual bool prepare_sleep() noexcept = 0;
    virtual void end_sleep() noexcept = 0;
    // A descriptor that becomes readable on an event; -1: none.
    virtual int descriptor() const noexcept = 0;
    // Maximum time between polls, in milliseconds, while the descriptor is not readable; -1: no limit.
    virtual int patience() const noexcept = 0;
    // Latest time of the next poll, in nanoseconds of the steady clock.
    virtual std::int64_t deadline() const noexcept { return (std::numeric_limits<std::int64_t>::max)(); }

    // True if it may still wake a task that is waiting now.
    virtual bool expects() const noexcept { return true; }
    // Whether a deadlock_judge (stillness.hpp) knows if what it expects can come.
    virtual bool is_judged() const noexcept { return false; }
    // The runtime has ended: no thread is in a function of this, and none will be.
    virtual void end() noexcept {}

  protected:
    service() = default;
    service(const service &) = default;
    service &operator=(const service &) = default;
    ~service() = default;
};

// From any thread while a runtime is running. Throws std::logic_error if none is, std::length_error if there
// are too many services, std::system_error if no descriptor can be opened.
FULT_API void add_service(service &s);
// When it returns, no function of the service is being called, and none will be.
FULT_API void remove_service(service &s) noexcept;
// True if the running runtime has such a service: its messages wake tasks of this runtime alone.
FULT_API bool has_services() noexcept;

// So many scheduling decisions that worker has made; for another worker of its runtime. The same number
// again: it computes, or sleeps.
FULT_API std::uint32_t decisions_of(unsigned worker) noexcept;

// While it lives, spawn on this thread does not suspend, which it otherwise may if a table is nearly full,
// and neither does a try that fails (let_others_run_sometimes). For code that holds a lock of kernel threads.
// Nothing in its scope may suspend.
class FULT_API no_suspension_in_spawn {
  public:
    no_suspension_in_spawn() noexcept;
    ~no_suspension_in_spawn();
    no_suspension_in_spawn(const no_suspension_in_spawn &) = delete;
    no_suspension_in_spawn &operator=(const no_suspension_in_spawn &) = delete;

  private:
    worker *here_; // null: a foreign thread
    bool before_;
};

// True if the calling worker has other tasks to run: then work that can be deferred should be. False on a
// foreign thread.
FULT_API bool others_ready() noexcept;

// Sets whether this process shares its processors with other busy processes. If so, idle polling yields the
// processor. From any thread.
FULT_API void share_processors(bool shared) noexcept;
// Called after a poll that found nothing and is likely to be repeated: yields a shared processor now and
// then. From any thread.
FULT_API void yield_if_processors_shared() noexcept;

} // namespace fult::detail
