// For tests that can fail only by hanging: a wake-up that is lost, a task that is never run.
#pragma once

#include <gtest/gtest.h>

namespace fult::testing {

// Expects that `body` ends. What hangs cannot be undone, and no time is too long on a busy machine: only the
// runner of the tests ends a program that has been silent for minutes, with a report of all tasks.
template <class Body> void expect_ends(Body body) {
    bool ended = false;
    body();
    ended = true;
    EXPECT_TRUE(ended);
}

} // namespace fult::testing
