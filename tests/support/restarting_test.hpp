// Tests whose programs end: each runs in the test's program, started again.
#pragma once

#include <gtest/gtest.h>

#include "scale.hpp"

namespace fult::testing {

class restarting_test : public ::testing::Test {
  protected:
    restarting_test() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if (emulated())
            GTEST_SKIP() << "no program can start itself again under this emulator";
    }
};

} // namespace fult::testing
