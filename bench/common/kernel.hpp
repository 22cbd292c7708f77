// The frame of fib, nqueens and uts: each version provides its way to run tasks, the kernel provides the work
// and its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/arguments.hpp"

namespace bench {

// One way of running tasks.
struct version {
    const char *name;     // "serial", "fult", ...
    unsigned max_workers; // 0: any number
    // Starts a runtime of so many workers, calls the body as its first task (or the nearest thing it has),
    // stops it.
    void (*run)(unsigned workers, const std::function<void()> &body);
};

// The work. All of it is set when the command line has been read.
struct job {
    const char *benchmark;
    std::string name;                    // the case: "38", "T1"
    std::uint64_t tasks = 0;             // how many tasks the parallel versions run; 0: set by check
    std::function<void()> warm_up;       // something small of the same kind
    std::function<void()> compute;       // what is measured
    std::function<std::string()> check;  // after compute: empty, or what is wrong with the answer
    std::function<std::uint64_t()> done; // tasks of the last compute, where that is not known before
};

struct kernel_settings {
    unsigned workers = 1;
    unsigned rounds = 1;
    void declare(arguments &line);
};

// Runs the rounds, prints a record for each, and returns the exit status: 1 if an answer was wrong.
int run_kernel(const version &how, const kernel_settings &settings, const job &work);

} // namespace bench
