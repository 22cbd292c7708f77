// The child of a fork has none of the runtime's workers: it may exec or end, and is stopped with a message if
// it does more.
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fult/descriptor.hpp>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

#include "tests/support/in_child.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

using fult::testing::end_of_child;

template <class Body> end_of_child in_child(Body body) {
    const std::optional<end_of_child> how = fult::testing::run_in_child(body);
    EXPECT_TRUE(how) << "no process, or no descriptor";
    return how.value_or(end_of_child{});
}

template <class Body> void expect_refusal(const char *what, Body body) {
    SCOPED_TRACE(what);
    const end_of_child how = in_child(body);
    EXPECT_TRUE(WIFSIGNALED(how.status) && WTERMSIG(how.status) == SIGABRT) << how.status << how.said;
    EXPECT_NE(how.said.find("fult: fork: this process was forked while a runtime was running"),
              std::string::npos)
        << how.said;
}

struct fork_guard : ::testing::Test {
    void SetUp() override {
        if (fult::testing::sanitized)
            GTEST_SKIP() << "the sanitizers' own threads do not survive a fork";
        if (fult::testing::under_valgrind())
            GTEST_SKIP() << "it reports what the parent's threads hold as lost by the child";
    }
};

TEST_F(fork_guard, the_child_reports_what_it_may_not_do) {
    const runtime running(workers(2));
    expect_refusal("spawn", [] { spawn([] {}).join(); });
    expect_refusal("spawn with options", [] { spawn({.name = "named"}, [] {}).join(); });
    expect_refusal("yield", [] { this_task::yield(); });
    expect_refusal("wait", [] { this_task::wait(); });
    fult::event never;
    expect_refusal("event", [&] { never.wait(); });
    fult::event open;
    auto before = spawn([&] { open.wait(); });
    expect_refusal("join", [&] { before.join(); });
    open.set();
    before.join();
}

TEST_F(fork_guard, a_foreign_thread_s_child_too) {
    const runtime running(workers(2));
    std::thread([] {
        expect_refusal("spawn", [] { spawn([] {}).join(); });
        fult::event never;
        expect_refusal("event", [&] { never.wait(); });
        const end_of_child how = in_child([] {
            try {
                const runtime another(workers(1));
            } catch (const std::logic_error &error) {
                ::_exit(std::string(error.what()).find("forked") != std::string::npos ? 5 : 6);
            }
        });
        EXPECT_TRUE(WIFEXITED(how.status) && WEXITSTATUS(how.status) == 5) << how.said;
    }).join();
}

TEST_F(fork_guard, a_task_that_forks_and_returns_in_the_child_is_stopped) {
    const runtime running(workers(2));
    pid_t child = -1;
    auto forks = spawn([&] {
        this_task::yield(); // on a stack of its own
        child = ::fork();
        if (child == 0)
            ::close(STDERR_FILENO);
    });
    while (!forks.done())
        this_task::yield();
    forks.join();
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

TEST_F(fork_guard, exec_and_exit_go_on_working) {
    const runtime running(workers(2));
    const end_of_child run =
        in_child([] { ::execl("/bin/sh", "sh", "-c", "echo here >&2; exit 3", nullptr); });
    EXPECT_TRUE(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 3);
    EXPECT_EQ(run.said, "here\n");
    const end_of_child quiet = in_child([] { fult::trim(); });
    EXPECT_TRUE(WIFEXITED(quiet.status) && WEXITSTATUS(quiet.status) == 0);
    EXPECT_EQ(quiet.said, "");
    EXPECT_EQ(spawn([] { return 4; }).join(), 4); // the parent does not mind
}

TEST_F(fork_guard, the_runtime_s_end_in_the_child_is_none) {
    const end_of_child how = in_child([] {
        // a child of the test: forked again while this one's runtime runs
        pid_t inner = -1;
        {
            const runtime running(workers(2));
            inner = ::fork();
        }
        if (inner == 0)
            ::_exit(0);
        int status = -1;
        ::waitpid(inner, &status, 0);
        ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    });
    EXPECT_TRUE(WIFEXITED(how.status) && WEXITSTATUS(how.status) == 0) << how.said;
}

// The kernel's objects that this process has open, of the kinds that a runtime makes.
std::multiset<std::string> events_of_process() {
    std::multiset<std::string> all;
    for (const auto &each : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code closed; // the directory's own
        const std::string what = std::filesystem::read_symlink(each, closed);
        if (what.find("[event") != std::string::npos)
            all.insert(what);
    }
    return all;
}

// Waits of tasks that other threads end, by descriptors and by signals.
void wait_in_a_runtime(std::size_t rounds) {
    fult::options o = workers(2);
    o.dump_signal = SIGUSR2;
    const runtime running(o);
    for (std::size_t i = 0; i < rounds; ++i) {
        int ends[2];
        ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
        fult::event other;
        auto reads = spawn([&] {
            fult::wait_readable(ends[0]);
            other.wait();
        });
        this_task::yield();
        std::thread([&] {
            EXPECT_EQ(::write(ends[1], "x", 1), 1);
            other.set();
        }).join();
        reads.join();
        ::close(ends[0]);
        ::close(ends[1]);
    }
}

TEST_F(fork_guard, the_descriptors_of_a_runtime_end_with_it) {
    const auto before = events_of_process();
    for (int i = 0; i < 3; ++i) {
        wait_in_a_runtime(2);
        EXPECT_EQ(events_of_process(), before);
    }
}

TEST_F(fork_guard, between_two_runtimes_parent_and_child_share_nothing) {
    wait_in_a_runtime(1);
    const pid_t child = ::fork();
    wait_in_a_runtime(fult::testing::scaled(200) + 10);
    if (child == 0)
        ::_exit(HasFailure() ? 1 : 0);
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

} // namespace
