// Deadlocks in which several processes take part. Internal: for fult-comm, which asks the other ranks.
#pragma once

#include <cstdint>
#include <sys/types.h>

#include <fult/detail/platform.hpp>
#include <fult/options.hpp>

namespace fult::detail {

struct worker_team;

// Knows whether other processes may yet wake a task of this one: services that are judged() leave that to it.
class FULT_API deadlock_judge {
  public:
    // All tasks of this process wait, and only another process can wake one. Called by a worker between two
    // sleeps, again and more and more seldom while that is so. Does not wait, does not suspend, adds no and
    // removes no judge.
    virtual void all_wait() noexcept = 0;

  protected:
    deadlock_judge() = default;
    deadlock_judge(const deadlock_judge &) = default;
    deadlock_judge &operator=(const deadlock_judge &) = default;
    ~deadlock_judge() = default;
};

// Any thread, while a runtime runs. Each judge knows of its own messages alone: while there are two of them
// no deadlock is reported. When remove_judge returns, no call of all_wait is running any more.
FULT_API void add_judge(deadlock_judge &judge) noexcept;
FULT_API void remove_judge(deadlock_judge &judge) noexcept;

// A kernel thread of a library of this project, or of one that it uses, that wakes no task by itself: it is
// none of the program's. False: there is no room, and no deadlock will be found.
FULT_API bool know_thread(pid_t thread) noexcept;
FULT_API void forget_thread(pid_t thread) noexcept;

// A look at this process. Any thread that know_thread knows, or a worker, while a runtime runs.
class FULT_API stillness {
  public:
    stillness() noexcept;
    // Whether every worker has slept all the time since, and nothing of this process could wake a task, but
    // for services that are judged.
    bool lasts() const noexcept;

  private:
    bool all_sleep() const noexcept;

    worker_team *team_;
    unsigned unparked_ = 0;
    bool is_still_ = false;
};

// FULT_DEADLOCK; off where no runtime runs, and after a deadlock has been reported.
FULT_API deadlock_mode deadlock_wanted() noexcept;
// Milliseconds of sleep after which a worker looks for a deadlock first.
FULT_API int first_deadlock_look() noexcept;
// Writes `text` and the report of all tasks on standard error, once in a runtime; whether it did. Waits while
// that takes nothing.
FULT_API bool report_deadlock(const char *text) noexcept;

} // namespace fult::detail
