// Work from outside that workers do between tasks: messages that arrive (fult-comm). Internal: for libraries
// of this project that stand on the runtime.
#pragma once

#include <cstdint>
#include <limits>

#include <fult/detail/platform.hpp>

namespace fult::detail {

class worker;

// What workers poll: when they have nothing to run, every few scheduling decisions, and before they sleep.
class FULT_API service {
  public:
    // Does what there is to do, without waiting; whether it did anything. By any worker, by several at a
    // time, on the stack of whoever decides what runs next: it must not suspend. Signals and spawns are
    // fine.
    virtual bool poll() noexcept = 0;

    // One worker at a time sleeps for all services, the watcher. prepare_sleep: whatever happens from now on
    // must make descriptor() readable, or can wait for patience(). False: something has happened; poll.
    // end_sleep follows each that returned true.
    virtual bool prepare_sleep() noexcept = 0;
    virtual void end_sleep() noexcept = 0;
    // Readable when there is something to do; -1: none.
    virtual int descriptor() const noexcept = 0;
    // Milliseconds after which it wants to be polled at the latest, while no descriptor calls; -1: never.
    virtual int patience() const noexcept = 0;
    // When it wants to be polled at the latest, in nanoseconds of the steady clock.
    virtual std::int64_t deadline() const noexcept { return std::numeric_limits<std::int64_t>::max(); }

    // Whether it may yet wake a task that waits now.
    virtual bool expects() const noexcept { return true; }
    // Whether a deadlock_judge (stillness.hpp) knows if what it expects can come.
    virtual bool is_judged() const noexcept { return false; }

  protected:
    service() = default;
    service(const service &) = default;
    service &operator=(const service &) = default;
    ~service() = default;
};

// From any thread while a runtime runs. Throws std::logic_error where none does, std::length_error where
// there are too many, std::system_error where there is no descriptor.
FULT_API void add_service(service &s);
// When it returns nobody is in one of its functions any more, nor will be.
FULT_API void remove_service(service &s) noexcept;

// While it lives, spawn on this thread does not suspend, as it else does where a table is nearly full: for
// code that holds a lock of kernel threads. Nothing in its scope may suspend.
class FULT_API no_turns {
  public:
    no_turns() noexcept;
    ~no_turns();
    no_turns(const no_turns &) = delete;
    no_turns &operator=(const no_turns &) = delete;

  private:
    worker *here_; // null: a foreign thread
    bool before_;
};

// Whether the calling worker has something else to run: what can be put off will be done soon. False on a
// foreign thread.
FULT_API bool others_ready() noexcept;

// Whether this process shares its processors with others that are as busy, as far as is known: from then on
// whoever looks in vain for something to do gives the processor up in between. Any thread.
FULT_API void share_processors(bool shared) noexcept;
// For a call that finds nothing and is likely to be repeated: gives a shared processor up now and then. Any
// thread.
FULT_API void looked_in_vain() noexcept;

} // namespace fult::detail
