#include <cstdio>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "launcher/signals.hpp"
#include "tests/support/refused_call.hpp"
#include "tests/support/scale.hpp"

namespace fult::run {
namespace {

TEST(signals, without_a_descriptor_name_the_call_and_the_remedy) {
    if (testing::sanitized || testing::under_valgrind())
        GTEST_SKIP() << "its own threads do not survive a fork";
    if (!testing::can_refuse())
        GTEST_SKIP() << "no seccomp filters";
    EXPECT_EXIT(
        {
            testing::refuse(SYS_signalfd4);
            try {
                const signals all;
                ::_exit(1);
            } catch (const std::system_error &error) {
                std::fprintf(stderr, "%s\n", error.what());
                ::_exit(0);
            }
        },
        ::testing::ExitedWithCode(0),
        "no descriptor for signals; the system refuses the call signalfd4 to this process; allow it in the "
        "seccomp filter");
}

} // namespace
} // namespace fult::run
