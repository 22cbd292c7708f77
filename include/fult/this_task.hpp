// What a task does to itself. All of these are for tasks only; on a foreign thread they end the program with
// a message.
#pragma once

#include <stop_token>
#include <string_view>

#include <fult/task_id.hpp>

namespace fult {

// Whether the caller runs as a task.
FULT_API bool in_task() noexcept;

namespace this_task {

// Lets others run that are ready on this worker, one of them at least if there is any, then goes on. Every
// 32nd time it may be one of another worker, so that all have their turn (docs/scheduler.md, "Fairness"). May
// suspend, and may go on on another worker.
FULT_API void yield() noexcept;

// Suspends until signaled. One signal that came before is kept and lets it return at once; it may also return
// without any, so it is always used as `while (!condition) wait();`. With that loop nothing is lost. Source:
// Wait in section 4.2.2 of Dang's dissertation; the retained signal is explained in docs/scheduler.md.
FULT_API void wait() noexcept;

// The name of the running task, for others to signal.
FULT_API task_id id() noexcept;

// The number of the worker that runs this task now: 0 ... worker_count() - 1. Another one, perhaps, after any
// call that may suspend.
FULT_API unsigned worker() noexcept;

// The name given at spawn, or an empty one.
FULT_API std::string_view name() noexcept;

} // namespace this_task

namespace detail {
// Polling for a task that waits, while its worker has nothing else to do.
class FULT_API poller {
  public:
    static constexpr unsigned looks = 32; // at the condition, in each step
    poller() noexcept;
    ~poller();
    poller(const poller &) = delete;
    poller &operator=(const poller &) = delete;
    // False: look at the condition once more, then suspend. May consume a signal.
    bool step() noexcept;

  private:
    worker_hot *worker_; // where it began
    unsigned left_;
};
} // namespace detail

namespace this_task {

// while (!condition()) wait(), looking at the condition itself while this worker has nothing else to run: the
// shortest way from a signaler's store to here.
template <class Condition> void wait(Condition condition) {
    while (!condition()) {
        {
            detail::poller poll;
            while (poll.step())
                for (unsigned i = 0; i < detail::poller::looks; ++i)
                    if (condition())
                        return;
        }
        if (condition())
            return;
        wait();
    }
}

// The same until a stop is requested at the latest; whether the condition holds. Throws also std::bad_alloc.
template <class Condition> bool wait(const std::stop_token &stop, Condition condition) {
    if (condition())
        return true;
    const auto wake = [self = id()] { signal(self); };
    const std::stop_callback<decltype(wake)> on_stop(stop, wake);
    bool holds = false;
    wait([&] { return (holds = condition()) || stop.stop_requested(); });
    return holds;
}

} // namespace this_task
} // namespace fult
