#include <atomic>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/fult.hpp>

#include "fult/engine/blocking_pool.hpp"
#include "tests/support/failing.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::run_blocking;
using fult::testing::scaled;

struct both_ends {
    int ends[2];
    both_ends() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
    ~both_ends() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
};

TEST(blocking, gives_back_what_the_call_gives) {
    fult::runtime rt(fult::testing::workers(2));
    int there = 7;
    EXPECT_EQ(run_blocking([](int a, int b) { return a + b; }, 3, 4), 7);
    EXPECT_EQ(&run_blocking([&]() -> int & { return there; }), &there);
    EXPECT_EQ(*run_blocking([] { return std::make_unique<int>(5); }), 5);
    EXPECT_EQ(*run_blocking([](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(6)), 6);
    run_blocking([&] { there = 8; });
    EXPECT_EQ(there, 8);
    struct without_default {
        explicit without_default(int v) : value(v) {}
        int value;
    };
    EXPECT_EQ(run_blocking([] { return without_default(9); }).value, 9);
}

TEST(blocking, runs_on_a_thread_that_is_no_worker) {
    fult::runtime rt(fult::testing::workers(2));
    const auto me = std::this_thread::get_id();
    EXPECT_FALSE(run_blocking([] { return fult::in_task(); }));
    EXPECT_NE(run_blocking([] { return std::this_thread::get_id(); }), me);
}

TEST(blocking, in_place_on_a_foreign_thread) {
    const auto me = std::this_thread::get_id();
    EXPECT_EQ(run_blocking([] { return std::this_thread::get_id(); }), me);
    fult::runtime rt(fult::testing::workers(1));
    std::thread([] {
        EXPECT_EQ(run_blocking([] { return std::this_thread::get_id(); }), std::this_thread::get_id());
    }).join();
}

TEST(blocking, exceptions_and_errno_come_back) {
    fult::runtime rt(fult::testing::workers(1));
    EXPECT_THROW(run_blocking([] { throw std::out_of_range("there"); }), std::out_of_range);
    errno = 0;
    EXPECT_EQ(run_blocking([] { return ::close(-1); }), -1);
    EXPECT_EQ(errno, EBADF);
    try {
        throw std::runtime_error("outer");
    } catch (const std::runtime_error &) {
        EXPECT_THROW(run_blocking([]() -> int { throw 5; }), int);
        EXPECT_NE(std::current_exception(), nullptr);
    }
}

// Each call waits for a later one; the worker is only one.
TEST(blocking, the_pool_grows_while_all_of_it_blocks) {
    fult::runtime rt(fult::testing::workers(1));
    const std::size_t count = scaled(100) + 2;
    std::vector<both_ends> pipes(count);
    std::vector<fult::handle<char>> readers;
    for (std::size_t i = 0; i < count; ++i)
        readers.push_back(fult::spawn([&pipes, i] {
            char c = 0;
            EXPECT_EQ(run_blocking(::read, pipes[i].ends[0], static_cast<void *>(&c), std::size_t{1}), 1);
            return c;
        }));
    fult::this_task::yield();
    for (std::size_t i = count; i-- > 0;) {
        const char c = static_cast<char>('a' + i % 26);
        EXPECT_EQ(run_blocking(::write, pipes[i].ends[1], static_cast<const void *>(&c), std::size_t{1}), 1);
    }
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(readers[i].join(), static_cast<char>('a' + i % 26));
}

TEST(blocking, at_the_limit_calls_wait_their_turn) {
    fult::options o = fult::testing::workers(2);
    o.blocking_threads = 3;
    fult::runtime rt(o);
    std::atomic<int> inside{0}, most{0};
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 50; ++i)
        tasks.push_back(fult::spawn([&] {
            run_blocking([&] {
                const int now = ++inside;
                for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);)
                    ;
                std::this_thread::yield();
                --inside;
            });
        }));
    fult::join_all(tasks);
    EXPECT_LE(most.load(), 3);
    EXPECT_GE(most.load(), 1);
}

// The worker is free while its task blocks.
TEST(blocking, other_tasks_run_meanwhile) {
    fult::runtime rt(fult::testing::workers(1));
    std::binary_semaphore go(0);
    std::atomic<bool> released{false};
    auto blocked = fult::spawn([&] {
        return run_blocking([&] {
            go.acquire();
            return released.load();
        });
    });
    auto other = fult::spawn([&] {
        released = true;
        go.release();
    });
    EXPECT_TRUE(blocked.join());
    other.join();
}

TEST(blocking, many_calls_from_many_tasks) {
    fult::runtime rt(fult::testing::workers(4));
    const std::size_t rounds = scaled(500);
    std::atomic<std::size_t> calls{0};
    std::vector<fult::handle<void>> tasks;
    for (int t = 0; t < 16; ++t)
        tasks.push_back(fult::spawn([&] {
            for (std::size_t r = 0; r < rounds; ++r)
                EXPECT_EQ(run_blocking([&] { return ++calls != 0; }), true);
        }));
    fult::join_all(tasks);
    EXPECT_EQ(calls.load(), 16 * rounds);
}

TEST(blocking, a_call_that_waits_long_for_its_turn_is_reported_once) {
    struct request : fult::detail::blocking_request {
        std::binary_semaphore go{0};
        std::atomic<bool> done{false};
        request() {
            run = [](fult::detail::blocking_request &j) noexcept { static_cast<request &>(j).go.acquire(); };
            finish = [](fult::detail::blocking_request &j) noexcept {
                static_cast<request &>(j).done = true;
            };
            refuse = [](fult::detail::blocking_request &, int) noexcept {
                ADD_FAILURE() << "a thread was started";
            };
        }
    };
    std::atomic<unsigned> idle{0};
    fult::detail::blocking_pool pool(1, idle);
    request first, second;
    EXPECT_TRUE(pool.submit(first));
    EXPECT_FALSE(pool.submit(second));
    ::testing::internal::CaptureStderr();
    pool.report_if_waiting(first); // it runs
    pool.report_if_waiting(second);
    pool.report_if_waiting(second);
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("FULT_BLOCKING_THREADS"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
    first.go.release();
    second.go.release();
    fult::testing::spin_until([&] { return first.done.load() && second.done.load(); });
    EXPECT_EQ(pool.threads(), 1U);
    fult::testing::spin_until([&] { return idle.load() == 1; });
    EXPECT_FALSE(pool.busy());
    pool.stop();
    EXPECT_EQ(idle.load(), 0U);
}

// Two calls that fail to start a thread at once: the first counts on the thread of the second.
TEST(blocking, calls_that_fail_together_all_end) {
    if (!fult::testing::can_fail)
        GTEST_SKIP() << "the sanitizers of clang define pthread_create themselves";
    for (unsigned limit : {1U, 2U}) {
        fult::options o = fult::testing::workers(2);
        o.blocking_threads = limit; // one: the second call waits for the thread of the first
        fult::runtime rt(o);
        std::atomic<int> refused{0};
        const auto call = [&] {
            try {
                run_blocking([] {});
            } catch (const std::system_error &error) {
                EXPECT_EQ(error.code().value(), EAGAIN);
                ++refused;
            }
        };
        auto &plan = fult::testing::thread_plan;
        plan.arm(0, limit);
        plan.together = 2;
        auto other = fult::spawn([&] {
            fult::testing::spin_until([&] { return plan.failed.load() != 0; }); // main's call is under way
            if (limit == 1)
                fult::spawn([&] { // runs when this task waits in its call
                    plan.failed = 2;
                })
                    .detach();
            call();
        });
        call();
        other.join();
        plan.disarm();
        EXPECT_EQ(refused.load(), 2) << "limit " << limit;
        EXPECT_EQ(run_blocking([] { return 7; }), 7) << "with threads again";
    }
}

// The thread that ends the last task's wait is out of the runtime before that is gone.
TEST(blocking, runtimes_end_right_after_a_call) {
    for (std::size_t r = 0; r < scaled(200); ++r) {
        std::atomic<int> ended{0};
        {
            fult::runtime rt(fult::testing::workers(2));
            fult::spawn([&] {
                run_blocking([] {});
                ++ended;
            }).detach();
        }
        EXPECT_EQ(ended, 1);
    }
}

} // namespace
