// fib(n) by the textbook recursion, a task for fib(n - 1): all overhead, no work.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "common/kernel.hpp"

namespace bench {

inline std::uint64_t expected_fib(unsigned n) {
    std::uint64_t a = 0, b = 1;
    for (unsigned i = 0; i < n; ++i)
        b += std::exchange(a, b);
    return a;
}

// A call with n >= 2 spawns one task: fib(n + 1) - 1 of them.
inline std::uint64_t fib_tasks(unsigned n) { return expected_fib(n + 1) - 1; }

inline int fib_main(int argc, char **argv, const version &how, std::uint64_t (*compute)(unsigned),
                    unsigned n = 38) {
    kernel_settings settings;
    arguments line("fib: a task per call, with the smallest possible work.");
    line.option("-n,--size", n, "compute fib(n)");
    settings.declare(line);
    line.parse(argc, argv);
    if (n > 60)
        arguments::fail("fib(" + std::to_string(n) + ") would take too long; n is at most 60");

    std::uint64_t answer = 0;
    job work;
    work.benchmark = "fib";
    work.name = std::to_string(n);
    work.tasks = fib_tasks(n);
    work.warm_up = [&] { answer = compute(n < 20 ? n : 20); };
    work.compute = [&] { answer = compute(n); };
    work.check = [&] {
        return answer == expected_fib(n)
                   ? std::string()
                   : std::to_string(answer) + " instead of " + std::to_string(expected_fib(n));
    };
    return run_kernel(how, settings, work);
}

} // namespace bench
