/// @file
/// Operations of the running task on itself. For tasks only: on a foreign thread they end the program with a
/// message.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string_view>

#include <fult/task_id.hpp>

namespace fult {

/// True if the caller runs as a task.
FULT_API bool in_task() noexcept;

/// The memory of a stack, which grows from its end downwards.
struct stack_bounds {
    std::byte *low;    ///< the lowest address that may be used
    std::size_t size;  ///< bytes from there to the end
    std::size_t guard; ///< bytes below `low` that fault; 0: unknown, or none
};

namespace this_task {

/// Lets other ready tasks of this worker run, at least one if there is any. On every 32nd call it may be one
/// of another worker, so that all tasks get turns (docs/scheduler.md, "Fairness"). May suspend, and may
/// resume on another worker.
FULT_API void yield() noexcept;

/// Suspends until signaled. One signal that came before is retained and lets it return at once. It may also
/// return without a signal, so it must be used as `while (!condition) wait();`. With that loop no wake-up is
/// lost. Source: Wait in section 4.2.2 of Dang's dissertation; docs/scheduler.md explains the retained
/// signal.
FULT_API void wait() noexcept;

/// The id of the running task, for other threads to signal.
FULT_API task_id id() noexcept;

/// The number of the worker that runs this task now: 0 ... worker_count() - 1. May change in any call that
/// may suspend.
FULT_API int worker() noexcept;

/// The bounds of the stack that runs now, for code that looks for pointers on it or asks how much of it is
/// left: the system knows only those of the thread (`pthread_getattr_np`). A task that runs inline has the
/// stack of the task below it. They stay the same for the whole task, whichever worker runs it; the main task
/// has its thread's. Does not suspend.
FULT_API stack_bounds stack() noexcept;

/// The name given at spawn; may be empty.
FULT_API std::string_view name() noexcept;

} // namespace this_task

/// @cond internal
namespace detail {
// Polls a condition for a waiting task while its worker has nothing else to do.
class FULT_API poller {
  public:
    static constexpr unsigned looks_per_step = 32; // checks of the condition per step
    poller() noexcept;
    ~poller();
    poller(const poller &) = delete;
    poller &operator=(const poller &) = delete;
    // Returns false if the caller must check the condition once more and then suspend. May consume a signal.
    bool step() noexcept;

  private:
    worker_hot *worker_; // the worker on which polling began
    unsigned left_;
};
} // namespace detail
/// @endcond

namespace this_task {

/// while (!condition()) wait(), but polls the condition while this worker has no other task to run: the
/// shortest latency from a signaler's store.
template <class Condition> void wait(Condition condition) {
    while (!condition()) {
        {
            detail::poller poll;
            while (poll.step())
                for (unsigned i = 0; i < detail::poller::looks_per_step; ++i)
                    if (condition())
                        return;
        }
        if (condition())
            return;
        wait();
    }
}

/// The same, until a stop is requested. Returns whether the condition holds. Also throws std::bad_alloc.
template <class Condition> bool wait(const std::stop_token &stop, Condition condition) {
    if (condition())
        return true;
    if (stop.stop_requested()) {
        yield(); // else a loop of such waits would keep all others out
        return condition();
    }
    const auto wake = [self = id()] { signal(self); };
    const std::stop_callback<decltype(wake)> on_stop(stop, wake);
    bool holds = false;
    wait([&] { return (holds = condition()) || stop.stop_requested(); });
    return holds;
}

} // namespace this_task
} // namespace fult
