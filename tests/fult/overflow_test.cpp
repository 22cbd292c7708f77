#include <csignal>
#include <gtest/gtest.h>
#include <thread>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

volatile bool forever = true;
[[gnu::noinline]] int endless(int n) {
    volatile char frame[512];
    frame[0] = static_cast<char>(n);
    return forever ? endless(n + 1) + frame[0] : 0;
}

struct overflow : ::testing::Test {
    overflow() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void SetUp() override {
        if (fult::testing::sanitized || fult::testing::under_valgrind())
            GTEST_SKIP() << "the tool handles the fault";
        if (fult::testing::emulated())
            GTEST_SKIP() << "no program can start itself again under this emulator";
    }
    static void run(fult::guard_mode guard, bool sized) {
        fult::options o = workers(2);
        o.guard = guard;
        const runtime running(o);
        spawn({.name = "digger", .stack_size = sized ? std::size_t{1} << 20 : 0}, [] {
            this_task::yield();
            return endless(0);
        }).detach();
        while (true)
            this_task::yield();
    }
};

TEST_F(overflow, is_reported_with_the_tasks_name) {
    for (const auto guard : {fult::guard_mode::automatic, fult::guard_mode::mprotect}) {
        EXPECT_EXIT(run(guard, false), ::testing::KilledBySignal(SIGSEGV),
                    "task 'digger' .*overflowed its 260 KiB stack"); // 256, and an odd number of pages
        EXPECT_EXIT(run(guard, true), ::testing::KilledBySignal(SIGSEGV),
                    "task 'digger' .*overflowed its 10.. KiB stack");
    }
}

TEST_F(overflow, is_reported_with_the_frames) {
    EXPECT_EXIT(run(fult::guard_mode::automatic, false), ::testing::KilledBySignal(SIGSEGV),
                "overflowed its 260 KiB stack.*\n *#0 .*endless.*\n.* more \\.\\.\\.\n.*stack_main");
}

TEST_F(overflow, of_the_main_task_s_stack_is_reported) {
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            endless(0);
        },
        ::testing::KilledBySignal(SIGSEGV),
        "task 'main' .*overflowed its [0-9]+ KiB stack; give it more by `ulimit");
    EXPECT_EXIT(std::thread([] { // whose stack the threads' library has made
                    const runtime running(workers(1));
                    endless(0);
                })
                    .join(),
                ::testing::KilledBySignal(SIGSEGV), "task 'main' .*overflowed its [0-9]+ KiB stack");
}

TEST_F(overflow, another_fault_is_left_to_who_handled_it_before) {
    EXPECT_EXIT(
        {
            std::signal(SIGSEGV, [](int) { ::_exit(42); });
            const runtime running(workers(1));
            *static_cast<volatile int *>(nullptr) = 1;
        },
        ::testing::ExitedWithCode(42), "");
    EXPECT_EXIT(
        {
            { const runtime running(workers(1)); }
            std::signal(SIGSEGV, [](int) { ::_exit(43); });
            *static_cast<volatile int *>(nullptr) = 1;
        },
        ::testing::ExitedWithCode(43), "");
}

} // namespace
