#include <gtest/gtest.h>
#include <string>

#include "fult/base/check.hpp"

namespace {

using namespace fult::detail;

TEST(check, fatal_names_the_call_and_aborts) {
    EXPECT_EXIT(fatal("somewhere", "no %s left in %d", "paper", 7), ::testing::KilledBySignal(SIGABRT),
                "^fult: somewhere: no paper left in 7\n"); // an emulator adds a line of its own
}

TEST(check, a_warning_is_one_line) {
    ::testing::internal::CaptureStderr();
    warn("%d of %s", 3, "them");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "fult: 3 of them\n");
}

TEST(check, long_messages_are_cut_not_overrun) {
    const std::string text(5000, 'x');
    ::testing::internal::CaptureStderr();
    warn("%s", text.c_str());
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_LE(said.size(), 1024u);
    EXPECT_GT(said.size(), 900u);
    EXPECT_EQ(said.back(), '\n');
}

} // namespace
