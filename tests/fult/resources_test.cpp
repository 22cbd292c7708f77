// Memory, threads and slots run out: the caller gets an error, nothing is lost, nothing hangs.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "fult/memory/stack_pool.hpp"
#include "tests/support/failing.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::runtime;
using fult::spawn;
using fult::testing::guard_plan;
using fult::testing::mmap_plan;
using fult::testing::mprotect_plan;
using fult::testing::thread_plan;
using fult::testing::workers;
namespace this_task = fult::this_task;

struct resources : ::testing::TestWithParam<unsigned> {
    void SetUp() override {
        if (!fult::testing::can_fail)
            GTEST_SKIP() << "the sanitizer owns these calls";
    }
    void TearDown() override {
        mmap_plan.disarm();
        mprotect_plan.disarm();
        guard_plan.disarm();
        thread_plan.disarm();
    }
    static void runs_well(unsigned n) {
        const runtime running(workers(n));
        std::vector<handle<int>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(spawn([i] {
                this_task::yield();
                return i;
            }));
        int sum = 0;
        for (auto &each : all)
            sum += each.join();
        EXPECT_EQ(sum, 4950);
    }
};
INSTANTIATE_TEST_SUITE_P(workers, resources, ::testing::Values(1u, 2u, 3u));

// Tasks up to the bound of a table, all alive until released; then the error; then all works as before.
template <class Spawn> void fill_the_table(std::size_t room, Spawn spawn_one) {
    for (int round = 0; round < 3; ++round) {
        std::atomic<bool> go{false};
        std::atomic<int> ran{0};
        std::vector<handle<void>> all;
        std::string said;
        while (said.empty() && all.size() < 1000) {
            try {
                all.push_back(spawn_one([&] {
                    while (!go.load())
                        this_task::wait();
                    ran.fetch_add(1);
                }));
            } catch (const std::system_error &error) {
                said = error.what();
                EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
            }
        }
        EXPECT_NE(said.find("(128 living tasks)"), std::string::npos) << said;
        EXPECT_NE(said.find("FULT_MAX_TASKS"), std::string::npos) << said;
        EXPECT_EQ(all.size(), room);
        go = true;
        for (auto &each : all)
            signal(each.id());
        for (auto &each : all)
            each.join();
        EXPECT_EQ(ran.load(), static_cast<int>(all.size()));
    }
}

TEST_P(resources, the_limit_on_tasks) {
    fult::options o = workers(GetParam());
    o.max_tasks = 128;
    const runtime running(o);
    const std::size_t beside_main = 127, elsewhere = GetParam() == 1 ? beside_main : 128;
    fill_the_table(beside_main, [](auto body) { return spawn(body); });
    fill_the_table(elsewhere, [&](auto body) { return fult::spawn_on(GetParam() - 1, body); });
    fill_the_table(elsewhere, [&](auto body) { return fult::spawn_pinned(GetParam() - 1, body); });
    std::atomic<bool> over{false};
    std::thread foreign([&] {
        fill_the_table(128, [](auto body) { return spawn(body); });
        over = true;
    });
    while (!over.load())
        this_task::yield();
    foreign.join();
}

// The system refuses the memory of more slots: the table is full, until it no longer does.
TEST_P(resources, a_table_that_cannot_grow) {
    const runtime running(workers(GetParam()));
    std::vector<handle<int>> all;
    all.reserve(10'000);
    std::string said;
    mprotect_plan.arm(0);
    while (said.empty() && all.size() < 10'000)
        try {
            all.push_back(spawn([] { return 1; }));
        } catch (const std::system_error &error) {
            said = error.what();
            EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
        }
    EXPECT_GT(mprotect_plan.failed.load(), 0);
    mprotect_plan.disarm();
    EXPECT_NE(said.find("no memory or addresses for more"), std::string::npos) << said;
    EXPECT_NE(said.find("ulimit -v"), std::string::npos) << said;
    EXPECT_GE(all.size(), 500u);
    const std::size_t before = all.size();
    while (all.size() < 10'000) // it asks again now and then
        try {
            all.push_back(spawn([] { return 1; }));
        } catch (const std::system_error &) {
        }
    EXPECT_LT(before, all.size());
    std::size_t sum = 0;
    for (auto &each : all)
        sum += static_cast<std::size_t>(each.join());
    EXPECT_EQ(sum, all.size());
}

// Also if the spawned tasks' results and closures own something.
TEST_P(resources, a_failed_spawn_leaves_its_closure_to_the_caller) {
    fult::options o = workers(GetParam());
    o.max_tasks = 64;
    const runtime running(o);
    const auto owned = std::make_shared<int>(1);
    std::vector<handle<std::shared_ptr<int>>> all;
    try {
        for (;;)
            all.push_back(spawn([owned] { return owned; }));
    } catch (const std::system_error &) {
    }
    EXPECT_EQ(owned.use_count(), static_cast<long>(all.size()) + 1);
    join_all(all);
    EXPECT_EQ(owned.use_count(), 1);
}

TEST_P(resources, a_start_without_address_space) {
    bool started = false;
    for (long succeed = 0; !started; ++succeed) {
        ASSERT_LT(succeed, 200);
        mmap_plan.arm(succeed);
        try {
            const runtime running(workers(GetParam()));
            started = true;
            mmap_plan.disarm();
            EXPECT_EQ(spawn([] { return 1; }).join(), 1);
        } catch (const std::system_error &error) {
            mmap_plan.disarm();
            EXPECT_GT(mmap_plan.failed.load(), 0);
            EXPECT_NE(std::string(error.what()).find("fult: "), std::string::npos) << error.what();
            EXPECT_EQ(fult::worker_count(), 0);
            EXPECT_FALSE(fult::in_task());
        }
        if (!started)
            runs_well(GetParam());
    }
}

TEST_P(resources, a_start_of_which_one_call_fails) {
    for (long succeed = 0; succeed < 15; ++succeed)
        for (const bool protect : {false, true}) {
            (protect ? mprotect_plan : mmap_plan).arm(succeed, 1);
            try {
                const runtime running(workers(GetParam()));
                EXPECT_EQ(spawn([] { return 1; }).join(), 1);
            } catch (const std::system_error &) {
                EXPECT_EQ(fult::worker_count(), 0);
            }
            mmap_plan.disarm();
            mprotect_plan.disarm();
            if (succeed % 5 == 0)
                runs_well(GetParam());
        }
}

TEST_P(resources, a_start_without_threads) {
    for (long succeed = 0; succeed + 1 < GetParam(); ++succeed) {
        thread_plan.arm(succeed);
        try {
            const runtime running(workers(GetParam()));
            ADD_FAILURE() << "started";
        } catch (const std::system_error &error) {
            const std::string said = error.what();
            EXPECT_NE(said.find("worker " + std::to_string(succeed + 1)), std::string::npos) << said;
            EXPECT_NE(said.find("FULT_WORKERS"), std::string::npos) << said;
        }
        thread_plan.disarm();
        EXPECT_EQ(fult::worker_count(), 0);
        runs_well(GetParam());
    }
}

// The spawner gets the error as soon as a task found no stack; all tasks that it had spawned before run.
TEST_P(resources, stacks_run_out_while_tasks_block) {
    const runtime running(workers(GetParam()));
    for (int round = 0; round < 2; ++round) {
        std::atomic<bool> go{false};
        std::atomic<int> ran{0};
        std::vector<handle<void>> all;
        std::string said;
        mmap_plan.arm(round);
        while (said.empty() && all.size() < 100000) {
            try {
                all.push_back(spawn([&] {
                    while (!go.load())
                        this_task::wait();
                    ran.fetch_add(1);
                }));
            } catch (const std::system_error &error) {
                said = error.what();
                EXPECT_EQ(error.code(), std::errc::not_enough_memory);
            }
            this_task::yield();
        }
        EXPECT_NE(said.find("no memory for another stack"), std::string::npos) << said;
        EXPECT_NE(said.find("FULT_STACK_SIZE"), std::string::npos) << said;
        go = true;
        for (auto &each : all)
            signal(each.id());
        if (round == 1)
            mmap_plan.disarm();
        for (auto &each : all)
            each.join();
        mmap_plan.disarm();
        EXPECT_EQ(ran.load(), static_cast<int>(all.size()));
        EXPECT_EQ(spawn([] { return 1; }).join(), 1);
    }
}

// Tasks that need a stack each for a while, of which there are too few: they take turns.
TEST_P(resources, few_stacks_for_many_tasks) {
    const runtime running(workers(GetParam()));
    std::atomic<int> ran{0};
    std::vector<handle<void>> all;
    for (int i = 0; i < 400; ++i)
        all.push_back(spawn([&] {
            for (int n = 0; n < 3; ++n)
                this_task::yield();
            ran.fetch_add(1);
        }));
    mmap_plan.arm(0);
    join_all(all);
    mmap_plan.disarm();
    EXPECT_EQ(ran.load(), 400);
}

// No task ends or spawns: the tasks that found no stack start once there is memory again.
TEST_P(resources, a_shortage_of_stacks_ends_by_itself) {
    const runtime running(workers(GetParam()));
    std::atomic<bool> go{false};
    std::atomic<std::size_t> begun{0};
    std::vector<handle<void>> all;
    const auto yield_until_allowed = [&] {
        ++begun;
        while (!go.load())
            this_task::yield();
    };
    mmap_plan.arm(0);
    try {
        for (;;) {
            all.push_back(spawn(yield_until_allowed));
            this_task::yield();
        }
    } catch (const std::system_error &) {
    }
    EXPECT_LT(begun.load(), all.size());
    mmap_plan.disarm();
    while (begun.load() < all.size())
        this_task::yield();
    EXPECT_EQ(begun.load(), all.size());
    go = true;
    join_all(all);
}

TEST_P(resources, a_large_stack_comes_when_there_is_memory) {
    const runtime running(workers(GetParam()));
    mmap_plan.arm(0);
    try {
        auto large = spawn({.stack_size = 8u << 20}, [] { return 3; });
        for (int i = 0; i < 10; ++i) {
            EXPECT_FALSE(large.done());
            this_task::yield();
        }
        mmap_plan.disarm();
        EXPECT_EQ(large.join(), 3);
    } catch (const std::system_error &) { // to refuse at once is as good
    }
    mmap_plan.disarm();
    EXPECT_EQ(spawn({.stack_size = 8u << 20}, [] { return 4; }).join(), 4);
}

// The guard that the kernel refuses is replaced by one of mprotect, of which only some are allowed at a time.
TEST(resources, a_replaced_guard_counts_only_while_its_stack_is_used) {
    if (!fult::testing::can_fail || fult::testing::sanitized || fult::testing::under_valgrind())
        GTEST_SKIP() << "the tool owns these calls, or makes them slow";
    fult::detail::stack_pool pool({64 * 1024, 0, fult::guard_mode::automatic});
    if (pool.guard_name() != std::string("madvise"))
        GTEST_SKIP() << "the kernel has no such guards";
    guard_plan.arm(0);
    for (int i = 0; i < 20000; ++i) { // more than a quarter of the kernel's usual limit
        fult::detail::stack *s = i % 2 == 0 ? pool.acquire(1) : pool.acquire_sized(32u << 20);
        ASSERT_NE(s, nullptr);
        ASSERT_NE(s->guard, 0u) << "after " << i;
        i % 2 == 0 ? pool.release(s) : pool.release_sized(s);
    }
    guard_plan.disarm();
}

TEST_P(resources, stacks_without_guards_work) {
    mprotect_plan.arm(1L << 40);
    guard_plan.arm_now_and_then(GetParam(), 2, 3);
    runs_well(GetParam());
    guard_plan.disarm();
}

} // namespace
