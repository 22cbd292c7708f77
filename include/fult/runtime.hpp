// Starting and stopping.
#pragma once

#include <fult/options.hpp>

namespace fult {

// While one of these lives, its process has workers. One at a time, any number one after the other.
class FULT_API runtime {
  public:
    // Starts the workers. The calling thread becomes worker 0 and what it runs becomes the main task, pinned
    // to that worker. Throws std::system_error where threads or memory are lacking (nothing is left behind),
    // std::invalid_argument for an option out of its range, std::logic_error where a runtime is running. From
    // a foreign thread; does not suspend.
    explicit runtime(const options &opts = read_options());

    // Waits for all tasks, detached ones included, then ends the workers. Must be called by the main task, as
    // the last use of any handle. Suspends. Where nothing moves for ten seconds, says on standard error what
    // it waits for.
    ~runtime();

    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;

    // The options in force, with the number of workers filled in. From any thread.
    const options &in_force() const noexcept;
};

// The number of workers, 0 where no runtime runs. From any thread.
FULT_API unsigned worker_count() noexcept;

} // namespace fult
