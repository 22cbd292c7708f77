#include <atomic>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <fult/fult.hpp>

#include "tests/support/restarting_test.hpp"
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

struct overflow : fult::testing::restarting_test {
    void SetUp() override {
        if (fult::testing::sanitized || fult::testing::under_valgrind())
            GTEST_SKIP() << "the tool handles the fault";
        restarting_test::SetUp();
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
                    "task 'digger' .*overflowed its 1024 KiB stack");
    }
}

// Each frame has a large buffer, of which the function writes only the end that is used first, as snprintf
// into a buffer for a path does.
[[gnu::noinline]] int endless_large(int n) {
    volatile char frame[48 * 1024];
    frame[0] = static_cast<char>(n);
    return forever ? endless_large(n + 1) + frame[0] : 0;
}

TEST_F(overflow, by_large_frames_is_reported) {
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            for (int i = 0; i < 4; ++i) // neighbours, whose stacks are not guarded
                spawn([] {
                    while (forever)
                        this_task::yield();
                }).detach();
            spawn({.name = "digger"}, [] {
                this_task::yield();
                return endless_large(0);
            }).detach();
            while (forever)
                this_task::yield();
        },
        ::testing::KilledBySignal(SIGSEGV), "task 'digger' .*overflowed its 260 KiB stack");
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
        "task 'main' .*overflowed its [0-9]+ KiB stack; raise it with `ulimit");
    EXPECT_EXIT(std::thread([] { // whose stack the threads' library has made
                    const runtime running(workers(1));
                    endless(0);
                })
                    .join(),
                ::testing::KilledBySignal(SIGSEGV), "task 'main' .*overflowed its [0-9]+ KiB stack");
}

TEST_F(overflow, of_a_thread_s_own_stack_by_a_pinned_task_is_reported) {
    const auto dig = [](int (*function)(int)) {
        const runtime running(workers(2));
        fult::spawn_pinned(1, [function] { return function(0); }).join();
    };
    for (int (*const function)(int) : {&endless, &endless_large})
        EXPECT_EXIT(dig(function), ::testing::KilledBySignal(SIGSEGV),
                    "worker 1, slot [0-9]+. overflowed its [0-9]+ KiB stack; raise it with `ulimit");
}

TEST_F(overflow, another_fault_is_left_to_the_earlier_handler) {
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

void sends(int number, void (*send)(int)) {
    const runtime running(workers(2));
    spawn([=] { send(number); }).join();
    ::_exit(7); // reached where the signal was swallowed
}

// No instruction repeats them.
TEST_F(overflow, signals_that_were_sent_end_the_program) {
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT}) {
        EXPECT_EXIT(sends(number, [](int n) { ::raise(n); }), ::testing::KilledBySignal(number), "");
        EXPECT_EXIT(sends(number, [](int n) { std::thread([n] { ::raise(n); }).join(); }),
                    ::testing::KilledBySignal(number), "");
        EXPECT_EXIT(sends(number,
                          [](int n) {
                              ::kill(::getpid(), n); // whichever thread takes it, soon
                              while (true)
                                  this_task::yield();
                          }),
                    ::testing::KilledBySignal(number), "");
    }
}

void ends_with_the_value_sent(int, siginfo_t *info, void *) {
    ::_exit(info->si_code == SI_QUEUE ? info->si_value.sival_int : 1);
}

TEST_F(overflow, signals_that_were_sent_reach_the_earlier_handler) {
    EXPECT_EXIT(
        {
            struct sigaction action {};
            action.sa_sigaction = &ends_with_the_value_sent;
            action.sa_flags = SA_SIGINFO;
            ::sigaction(SIGSEGV, &action, nullptr);
            sends(SIGSEGV, [](int n) { ::sigqueue(::getpid(), n, {.sival_int = 44}); });
        },
        ::testing::ExitedWithCode(44), "");
    EXPECT_EXIT(
        {
            std::signal(SIGSEGV, SIG_IGN);
            const runtime running(workers(1));
            ::raise(SIGSEGV);
            endless(0); // is still reported
        },
        ::testing::KilledBySignal(SIGSEGV), "task 'main' .*overflowed");
}

TEST_F(overflow, another_crash_names_its_task) {
    const auto crash = [](const char *name, int how) {
        const runtime running(workers(2));
        spawn({.name = name}, [how] {
            this_task::yield();
            volatile int zero = 0;
            if (how == SIGSEGV)
                *static_cast<volatile int *>(nullptr) = 1;
            if (how == SIGILL)
                __builtin_trap();
            if (how == SIGBUS) { // beyond the end of a file
                const int file = ::memfd_create("empty", MFD_CLOEXEC);
                *static_cast<volatile int *>(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, file, 0)) = 1;
            }
            if (how == SIGFPE)
                zero = 7 / zero;
        }).detach();
        while (forever)
            this_task::yield();
    };
    for (const int number : {SIGSEGV, SIGILL, SIGBUS, SIGFPE})
        std::signal(number, SIG_DFL);
    EXPECT_EXIT(
        crash("writer", SIGSEGV), ::testing::KilledBySignal(SIGSEGV),
        "fult: task 'writer' .worker [01], slot [0-9]+. ends the program by SIGSEGV, address .*\n *#0 ");
    EXPECT_EXIT(crash("mapper", SIGBUS), ::testing::KilledBySignal(SIGBUS), "task 'mapper' .* by SIGBUS");
#if defined(__x86_64__)
    EXPECT_EXIT(crash("trap", SIGILL), ::testing::KilledBySignal(SIGILL), "task 'trap' .* by SIGILL");
    EXPECT_EXIT(crash("divider", SIGFPE), ::testing::KilledBySignal(SIGFPE), "task 'divider' .* by SIGFPE");
#endif
}

template <class F> void end_in_task(const char *name, F end) {
    const runtime running(workers(2));
    spawn({.name = name}, [end] {
        this_task::yield();
        end();
    }).detach();
    while (forever)
        this_task::yield();
}

[[gnu::noinline]] void throws() {
    if (forever)
        throw 1;
}

TEST_F(overflow, an_abort_names_its_task) {
    std::signal(SIGABRT, SIG_DFL);
    EXPECT_EXIT(end_in_task("quitter", [] { std::abort(); }), ::testing::KilledBySignal(SIGABRT),
                "fult: task 'quitter' .worker [01], slot [0-9]+. ends the program by SIGABRT\n *#0 ");
    EXPECT_EXIT(end_in_task("thrower", []() noexcept { throws(); }), ::testing::KilledBySignal(SIGABRT),
                "fult: task 'thrower' .* ends the program by SIGABRT\n *#0 .*abort.*"
                "(throws|__clang_call_terminate)"); // no frames are known above that function of clang
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            std::abort();
        },
        ::testing::KilledBySignal(SIGABRT), "fult: task 'main' .* ends the program by SIGABRT\n");
}

TEST_F(overflow, an_abort_with_a_message_of_the_library_has_no_second_report) {
    std::signal(SIGABRT, SIG_DFL);
    EXPECT_EXIT( // an emulator adds a line of its own
        end_in_task("misuser", [] { fult::signal(fult::task_id()); }), ::testing::KilledBySignal(SIGABRT),
        "^fult: signal: the task id is empty\n([^f].*)?$");
}

TEST_F(overflow, an_abort_reaches_the_earlier_handler_or_a_later_one) {
    EXPECT_EXIT(
        {
            std::signal(SIGABRT, [](int) { ::_exit(45); });
            end_in_task("quitter", [] { std::abort(); });
        },
        ::testing::ExitedWithCode(45), "^$");
    EXPECT_EXIT(end_in_task("quitter",
                            [] {
                                std::signal(SIGABRT, [](int) { ::_exit(46); });
                                std::abort();
                            }),
                ::testing::ExitedWithCode(46), "^$");
    EXPECT_EXIT(
        {
            std::signal(SIGABRT, SIG_IGN); // abort does not heed it
            end_in_task("quitter", [] { std::abort(); });
        },
        ::testing::KilledBySignal(SIGABRT), "");
}

TEST_F(overflow, two_aborts_are_one_report) {
    std::signal(SIGABRT, SIG_DFL);
    EXPECT_EXIT(
        {
            const runtime running(workers(2));
            std::atomic<int> come{0};
            for (int i = 0; i < 2; ++i)
                spawn({.name = "quitter"}, [&] {
                    for (++come; come < 2;)
                        this_task::yield();
                    std::abort();
                }).detach();
            while (forever)
                this_task::yield();
        },
        ::testing::KilledBySignal(SIGABRT),
        "^fult: task 'quitter' [^']* ends the program by SIGABRT\n *#0 [^']*\n$");
}

TEST_F(overflow, a_crash_on_the_stack_of_a_joiner_names_the_task_above) {
    std::signal(SIGSEGV, SIG_DFL);
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            spawn({.name = "above"}, [] { *static_cast<volatile int *>(nullptr) = 1; }).join();
        },
        ::testing::KilledBySignal(SIGSEGV), "fult: task 'above' .* ends the program by SIGSEGV");
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            *static_cast<volatile int *>(nullptr) = 1;
        },
        ::testing::KilledBySignal(SIGSEGV), "fult: task 'main' .* ends the program by SIGSEGV");
}

} // namespace
