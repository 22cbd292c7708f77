/// @file
/// Inspection of a running program: its tasks, what each waits for, and their stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iosfwd>
#include <span>
#include <string_view>

#include <fult/task_id.hpp>

namespace fult {

/// The state of a task.
enum class task_status {
    running,        ///< a worker runs it
    ready,          ///< it may run and waits for a worker
    waiting,        ///< it is suspended until it is signaled
    joining_inline, ///< it joins a task that runs inline on its stack
};

/// A snapshot of one task. Its views and pointers are valid until the visitor returns.
struct task_description {
    task_id id;                        ///< of a living task
    std::string_view name;             ///< as given at spawn; "main"; or "OpenMP task of FUNCTION"
    task_status status;                ///< its state
    bool started;                      ///< it has run before
    bool pinned;                       ///< false if unknown, as for running tasks
    int home;                          ///< the worker that is its home; -1: spawned by a foreign thread
    std::uint32_t slot;                ///< index in its home's table
    int worker;                        ///< the worker that runs it; -1: none
    const char *waits_for;             ///< "qlock", "join", ...; null: a signal, or it is not waiting
    const void *object;                ///< the address of the object it waits for; null if unknown
    const char *detail;                ///< how far that is, such as "3 of 4 have arrived"; null if unknown
    task_id joins;                     ///< the task that it joins, if it is in a join
    bool timed;                        ///< a time or a stop request may end its wait
    std::size_t stack_size;            ///< bytes; 0: it has no stack, or unknown
    std::size_t stack_used;            ///< bytes
    std::span<void *const> frames;     ///< return addresses, innermost first; empty unless suspended
    std::span<void *const> spawned_at; ///< the spawner's return addresses; empty without FULT_SPAWN_SITES=on
};

/// Passes a description of every task to the visitor, one after the other, while the program runs. The result
/// is not a consistent snapshot, but exact for tasks that are suspended throughout. Each suspended task is
/// held for the microseconds of the walk over its stack; a signal in the meantime is not lost. From any
/// thread, a task or not; does not suspend. The visitor must not suspend and must not inspect again. If no
/// runtime is running, nothing is visited. Returns the number of tasks.
FULT_API std::size_t visit_tasks(const std::function<void(const task_description &)> &visitor);

/// Writes a report of all tasks: the number in each state, then the suspended ones grouped by what they wait
/// for and by equal stacks, the largest group first. 100,000 tasks take about a second. From any thread; does
/// not suspend. FULT_DUMP_SIGNAL makes a signal write the same report to standard error.
FULT_API void dump_tasks(std::FILE *to = stderr);
/// The same.
FULT_API void dump_tasks(std::ostream &to);

/// @cond internal
namespace detail {
// The number of that signal, as the running runtime was configured; 0: none. From any thread.
FULT_API int dump_signal() noexcept;
} // namespace detail
/// @endcond

/// Gives back memory that is idle after a burst of tasks: the idle stacks of all workers and the descriptors
/// of tasks that have ended. Workers also do this themselves after a sleep of FULT_TRIM_AFTER. Other workers
/// do their part at their next scheduling point, which is soon. From any thread; does not suspend. Does
/// nothing if no runtime is running.
FULT_API void trim() noexcept;

} // namespace fult
