/// @file
/// The options of a runtime. docs/environment.md and `fult-info` show the same table.
#pragma once

#include <cstddef>

#include <fult/detail/platform.hpp>

namespace fult {

/// Whether a worker runs its newest or its oldest task first.
enum class spawn_order { depth_first, breadth_first };
/// Whether workers are bound to processors. automatic: where there are as many workers as processors in the
/// affinity mask, and no launcher has given the same processors to several ranks; `fult-info` says what was
/// decided. on: where there are no more workers than processors.
enum class bind_mode { automatic, on, off };
/// How stack overflows are caught.
enum class guard_mode { automatic, madvise, mprotect, none };

/// The reaction to a deadlock: every task waits, and nothing can wake one.
enum class deadlock_mode { report, abort, off };

/// Ownership of the floating-point environment (rounding, masks, flags). A suspension preserves it in either
/// case. shared: a task changes it like a function does, for its joiner and for the task that runs next. own:
/// each task starts with that of the runtime's start, and its changes end with it; joins run no task inline
/// then.
enum class fp_mode { shared, own };

/// The options of a runtime. Each member can be set by the variable named behind it. A runtime started with a
/// value that is invalid for the variable throws std::invalid_argument.
struct options {
    /// Of this structure: a later library takes the defaults of what a program does not have.
    std::size_t size = sizeof(options);
    unsigned workers = 0;                     ///< FULT_WORKERS: kernel threads; 0: one per usable processor
    bind_mode bind = bind_mode::automatic;    ///< FULT_BIND: each worker to a core of its own
    std::size_t stack_size = 256 * 1024;      ///< FULT_STACK_SIZE: bytes of a task's stack
    std::size_t stacks_kept = 16384;          ///< FULT_STACKS_KEPT: idle stacks that keep their memory
    guard_mode guard = guard_mode::automatic; ///< FULT_GUARD: how overflows are caught
    std::size_t max_tasks = 8064 * 1024;      ///< FULT_MAX_TASKS: living tasks per worker
    bool stealing = true;                     ///< FULT_STEALING
    bool private_words = true;                ///< FULT_PRIVATE_WORDS
    spawn_order order = spawn_order::depth_first; ///< FULT_ORDER
    unsigned blocking_threads = 512;  ///< FULT_BLOCKING_THREADS: concurrent calls of run_blocking()
    bool spawn_sites = false;         ///< FULT_SPAWN_SITES: record where each task was spawned
    bool report_detached = false;     ///< FULT_REPORT_DETACHED: each handle destroyed unjoined
    fp_mode fp_env = fp_mode::shared; ///< FULT_FP_ENV
    unsigned idle_spin = 100;         ///< FULT_IDLE_SPIN: microseconds of searching for work before sleeping
    unsigned trim_after = 1000; ///< FULT_TRIM_AFTER: milliseconds after which idle memory goes back; 0: never
    deadlock_mode deadlock = deadlock_mode::report; ///< FULT_DEADLOCK: the reaction to a deadlock
    int dump_signal = 0; ///< FULT_DUMP_SIGNAL: the signal that reports all tasks; 0: none
};

/// @cond internal
namespace detail {
FULT_API void read_options(options &into);
} // namespace detail
/// @endcond

/// The defaults, changed by the FULT_* environment variables. Throws std::invalid_argument that names the
/// variable, its value and the valid values; warns about unknown FULT_* variables. From any thread.
inline options read_options() {
    options found;
    detail::read_options(found);
    return found;
}

} // namespace fult
