/// @file
/// Start and stop of the runtime.
#pragma once

#include <fult/options.hpp>

namespace fult {

/// The runtime of the process: workers exist while it lives. One at a time, any number in succession.
class FULT_API runtime {
  public:
    /// Starts the workers. The calling thread becomes worker 0, and its code becomes the main task, pinned
    /// to that worker. Throws std::system_error if threads or memory cannot be allocated (everything is
    /// undone then), std::invalid_argument for an option outside its range, std::logic_error if a runtime is
    /// running. From a foreign thread; does not suspend.
    explicit runtime(const options &opts = read_options());

    /// Waits for all tasks, including detached ones, then ends the workers. Must be called by the main task,
    /// after the last use of any handle. Suspends. If there is no progress for ten seconds, reports on
    /// standard error what it waits for.
    ~runtime();

    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;

    /// The options in force, with the number of workers filled in. From any thread.
    const options &effective_options() const noexcept;
};

/// The number of workers; 0 if no runtime is running. From any thread. It stays the same while a runtime of
/// the program's runs; OpenMP programs on fult-omp may get more.
FULT_API int worker_count() noexcept;

} // namespace fult
