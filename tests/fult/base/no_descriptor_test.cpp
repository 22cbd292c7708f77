// Calls that make descriptors fail: the error names the call, what that means, and the remedy.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <fult/descriptor.hpp>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/refused_call.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::testing::can_refuse;
using fult::testing::refuse;
using fult::testing::workers;

// For a process of its own: its standard error is that of the call.
template <class Prepare, class Call> [[noreturn]] void fails_with(Prepare prepare, Call call) {
    const fult::runtime running(workers(1));
    prepare();
    try {
        call();
        ::_exit(1);
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(0);
    }
}

void sleeps() { fult::this_task::sleep_for(std::chrono::nanoseconds(1)); } // time: given, never reached
void waits_for_input() { fult::wait_readable(STDIN_FILENO); }

struct no_descriptor : ::testing::Test {
    void SetUp() override {
        if (fult::testing::sanitized || fult::testing::under_valgrind())
            GTEST_SKIP() << "its own threads do not survive a fork";
    }
};

const ::testing::ExitedWithCode ended_well(0);

TEST_F(no_descriptor, a_call_that_the_system_refuses_is_named) {
    if (!can_refuse())
        GTEST_SKIP() << "no seccomp filters";
    const std::string remedy = " to this process; allow it in the seccomp filter";
    EXPECT_EXIT(fails_with([] { refuse(SYS_eventfd2); }, sleeps), ended_well,
                "no descriptor for the timers; the system refuses the call eventfd2" + remedy);
    EXPECT_EXIT(fails_with([] { refuse(SYS_eventfd2); }, waits_for_input), ended_well,
                "no descriptor left to wait for descriptors; the system refuses the call eventfd2" + remedy);
    EXPECT_EXIT(fails_with([] { refuse(SYS_epoll_create1); }, waits_for_input), ended_well,
                "no descriptor left to wait for descriptors; the system refuses the call epoll_create1" +
                    remedy);
}

TEST_F(no_descriptor, the_limit_of_the_process_is_named) {
    const auto none_left = [] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_NOFILE, &none);
    };
    EXPECT_EXIT(fails_with(none_left, sleeps), ended_well, "no descriptor for the timers; raise `ulimit -n`");
    EXPECT_EXIT(fails_with(none_left, waits_for_input), ended_well,
                "no descriptor left to wait for descriptors; raise `ulimit -n`");
}

} // namespace
