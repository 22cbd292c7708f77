// Deadlocks across processes. Internal: for fult-comm, which asks the other ranks.
#pragma once

#include <cstdint>
#include <sys/types.h>

#include <fult/detail/platform.hpp>
#include <fult/options.hpp>

namespace fult::detail {

struct worker_team;

// Knows whether other processes may still wake a task of this one: services with is_judged() rely on it.
class FULT_API deadlock_judge {
  public:
    // All tasks of this process wait, and only another process can wake one. Called by a worker between two
    // sleeps, repeatedly and ever less often while this holds. Must not wait, suspend, or add or remove a
    // judge.
    virtual void all_wait() noexcept = 0;

  protected:
    deadlock_judge() = default;
    deadlock_judge(const deadlock_judge &) = default;
    deadlock_judge &operator=(const deadlock_judge &) = default;
    ~deadlock_judge() = default;
};

// From any thread, while a runtime runs. A judge knows only of its own messages: while there are two, no
// deadlock is reported. After remove_judge returns, no call of all_wait is running.
FULT_API void add_judge(deadlock_judge &judge) noexcept;
FULT_API void remove_judge(deadlock_judge &judge) noexcept;

// A kernel thread of a library of this project, or of a library that it uses, that wakes no task by itself:
// it does not count as a thread of the program. False: the list is full, and no deadlock will be found.
FULT_API bool know_thread(pid_t thread) noexcept;
FULT_API void forget_thread(pid_t thread) noexcept;

// A check of this process. By any thread registered by know_thread, or by a worker, while a runtime runs.
class FULT_API stillness {
  public:
    stillness() noexcept;
    // True if every worker has slept since construction, and nothing in this process could wake a task,
    // except services that are judged.
    bool lasts() const noexcept;

  private:
    bool all_sleep() const noexcept;

    worker_team *team_;
    unsigned unparked_ = 0;
    bool is_still_ = false;
};

// True if the initial thread, which has ended, was the last one of the program: the process has only the
// workers, if a runtime runs, which all sleep, and what does not count as the program's (know_thread).
// `worker_0_ended`: it was worker 0. From any thread that does not count.
FULT_API bool is_left_by_program(bool worker_0_ended) noexcept;

// FULT_DEADLOCK; off if no runtime runs, and after a deadlock has been reported.
FULT_API deadlock_mode deadlock_wanted() noexcept;
// Milliseconds of sleep after which a worker first checks for a deadlock.
FULT_API int first_deadlock_look() noexcept;
// Writes `text` and the report of all tasks to standard error, once per runtime; true if it did. Blocks while
// standard error is not writable.
FULT_API bool report_deadlock(const char *text) noexcept;

} // namespace fult::detail
