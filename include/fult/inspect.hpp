// Looking inside a running program: which tasks there are, what each waits for, and where.
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

// What a task does at the moment.
enum class task_status {
    running, // a worker runs it
    ready,   // it may run, and waits for a worker
    waiting, // it is suspended until somebody wakes it
    blocked, // it joins a task that runs on its stack, and goes on when that one has ended
};

// One task, as it was when it was looked at. What the views and pointers name lives until the visitor
// returns.
struct task_description {
    task_id id;                        // of a living task
    std::string_view name;             // as given at spawn; "main" for the main task
    task_status status;                // what it does
    bool started;                      // it has run before
    bool pinned;                       // false where that cannot be told: of running tasks
    int home;                          // the worker whose it is; -1: it was spawned by a foreign thread
    std::uint32_t slot;                // in its home's table
    int worker;                        // that runs it; -1: none
    const char *waits_for;             // "qlock", "join", ...; null: a signal, or it does not wait
    const void *object;                // the address of what it waits for; null where that is not known
    task_id joins;                     // the task whose end it waits for, if it is in a join
    bool timed;                        // a time or a stop request may end its wait
    std::size_t stack_size;            // bytes; 0: it has no stack, or it cannot be told
    std::size_t stack_used;            // bytes
    std::span<void *const> frames;     // return addresses, innermost first; empty but for suspended tasks
    std::span<void *const> spawned_at; // those of who spawned it; empty without FULT_SPAWN_SITES=on
};

// Describes every task to the visitor, one after the other, while the program goes on: no picture of one
// moment, but exact for all that are suspended throughout. Each suspended task is held for the microseconds
// of the walk over its stack; what wakes it meanwhile is not lost. From any thread, a task or not; does not
// suspend, and the visitor must not either, nor inspect again. Where no runtime runs nothing is visited.
// Returns the number of tasks.
FULT_API std::size_t visit_tasks(const std::function<void(const task_description &)> &visitor);

// Writes a report of all tasks: how many do what, then the suspended ones grouped by what they wait for and
// by equal stacks, the largest group first. 100,000 tasks take a second or so. From any thread; does not
// suspend. FULT_DUMP_SIGNAL has the same written to standard error when a signal arrives.
FULT_API void dump_tasks(std::FILE *to = stderr);
// The same.
FULT_API void dump_tasks(std::ostream &to);

// Gives memory back that a burst of tasks has left behind: the idle stacks of all workers, and the
// descriptors of tasks that have ended. Workers do so by themselves when they have slept for FULT_TRIM_AFTER.
// The other workers do their part at their next scheduling point, which is soon. From any thread; does not
// suspend. Where no runtime runs, does nothing.
FULT_API void trim() noexcept;

} // namespace fult
