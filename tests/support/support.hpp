// What most tests of the runtime need.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <sched.h>

#include <fult/fult.hpp>

#include "scale.hpp"

namespace fult::testing {

// Options for a number of workers. Not bound: tests run concurrently.
inline options workers(unsigned count) {
    options o;
    o.workers = count;
    o.bind = fult::bind_mode::off;
    // Memcheck and emulators keep books on all that might be used: seconds and gigabytes for 8M descriptors.
    if (under_valgrind() || emulated())
        o.max_tasks = 64 * 1024;
    return o;
}

// Blocks the worker, which reaches no scheduling point, until the condition holds. The test's timeout bounds
// it.
template <class Condition> void spin_until(Condition condition) {
    while (!condition())
        ::sched_yield();
}

// A generator whose seed is fixed and printed, so that a failing run can be repeated.
inline std::mt19937_64 seeded(std::uint64_t seed) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return std::mt19937_64(seed);
}

} // namespace fult::testing
