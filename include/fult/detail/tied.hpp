// Tied execution: from its start on, a task and all that its joins run inline above it stay on one worker,
// whichever worker that is. For runtimes whose programs keep addresses of thread-local storage across a
// suspension (OpenMP's tied tasks).
#pragma once

#include <optional>

#include <fult/detail/kernel.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

// Ties the running task to this worker until it ends. Returns false, and changes nothing, if the worker is
// not its home, or another task joins it inline: then a tied task must be started above it. Does not suspend.
FULT_API bool tie_current() noexcept;

// The end of that: called by the same task, as its last action.
FULT_API void untie_current() noexcept;

// While `on`, the calling worker is selective: of its own unstarted tasks, too, it starts only those that
// their task_ops::may_start allows, and leaves the others to other workers. Set where a task is about to
// suspend, or has ended; what may_start decides must not change until then. Does not suspend.
FULT_API void select_starts(bool on) noexcept;
// The calling worker's number, also where it runs no task, as in may_start.
FULT_API unsigned deciding_worker() noexcept;

// Called when the stack is below the limit for another inline run. If only a long row of inline runs has
// raised the limit, lets other tasks run, and the limit is as it was. May suspend.
FULT_API void end_inline_row() noexcept;

// Like fult::signal, but the id may be that of a task that has ended: then the signal is at worst a spurious
// wake-up of another one.
FULT_API void post_signal(task_id id) noexcept;

// A slot for tied_above, of the worker on which the call returns: it may suspend first, and so the task may
// go on elsewhere, if the worker's table is nearly full. Ends the program if no slot can be taken.
FULT_API task *take_slot_for_tied() noexcept;

// A task that runs above the current one, on its stack, tied to this worker. It is an unstarted task to no
// one: it begins with the constructor and ends with the destructor. `slot` is one of this worker.
class FULT_API tied_above {
  public:
    // `stored` is put into the storage of the new task.
    tied_above(task *slot, const task_ops *ops, void *stored) noexcept;
    ~tied_above(); // suspends if the task has values to destroy
    tied_above(const tied_above &) = delete;
    tied_above &operator=(const tied_above &) = delete;
    task *running() const noexcept { return task_; }

  private:
    task *task_;
    std::optional<run_above<slot_after::kept>> run_;
    const worker_hot *tied_before_;
    bool pinned_before_;
};

} // namespace fult::detail
