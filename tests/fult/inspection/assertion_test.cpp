// FULT_ASSERT fails with one readable message, and costs nothing where it is off.
#include <gtest/gtest.h>

#include <fult/detail/assertion.hpp>
#include <fult/fult.hpp>

#include "tests/support/restarting_test.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::detail::assertions_on;
using fult::testing::workers;

using assertion = fult::testing::restarting_test;

TEST_F(assertion, a_failure_names_expression_file_line_and_thread) {
    if (!assertions_on)
        GTEST_SKIP() << "built without assertions";
    const int slots = 3;
    EXPECT_DEATH(FULT_ASSERT(slots == 4),
                 "fult: assertion: slots == 4 \\(tests/fult/inspection/assertion_test.cpp:[0-9]+, on a "
                 "foreign thread\\)");
    EXPECT_DEATH(FULT_ASSERT(slots == 4, "there are four slots"),
                 "fult: assertion: slots == 4: there are four slots \\(tests/");
}

TEST_F(assertion, a_failure_in_a_task_names_worker_and_task) {
    if (!assertions_on)
        GTEST_SKIP() << "built without assertions";
    EXPECT_DEATH(
        {
            const fult::runtime running(workers(1));
            fult::spawn([] { FULT_ASSERT(1 + 1 == 3); }).join();
        },
        "fult: assertion: 1 \\+ 1 == 3 \\(tests/fult/inspection/assertion_test.cpp:[0-9]+, on worker 0, in "
        "task "
        "0:[0-9]+\\)");
}

TEST_F(assertion, a_condition_that_holds_passes_and_one_without_checks_is_not_evaluated) {
    int evaluated = 0;
    FULT_ASSERT(++evaluated == 1, "once");
    EXPECT_EQ(evaluated, assertions_on ? 1 : 0);
}

} // namespace
