// For tests that can fail only by hanging: a wake-up that is lost, a task that is never run.
#pragma once

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <semaphore>
#include <thread>

#include <fult/inspect.hpp>

#include "scale.hpp"

namespace fult::testing {

// Less than the time that Meson gives a test.
inline std::chrono::seconds time_to_end() {
    return std::chrono::seconds(under_valgrind() || emulated() ? 400 : sanitized ? 160 : 40);
}

// Expects that `body` ends within the time. Otherwise the test fails with a report of all tasks, and the
// program ends: what hangs cannot be undone. A thread watches the time, so that no deadlock is reported
// meanwhile.
template <class Body> void expect_ends(Body body, std::chrono::seconds limit = time_to_end()) {
    std::binary_semaphore ended(0);
    std::jthread watch([&] {
        if (ended.try_acquire_for(limit))
            return;
        ADD_FAILURE() << "did not end within " << limit.count() << " seconds";
        fult::dump_tasks();
        std::abort();
    });
    struct at_end {
        std::binary_semaphore &ended;
        ~at_end() { ended.release(); } // also if the body throws
    } const end{ended};
    body();
}

} // namespace fult::testing
