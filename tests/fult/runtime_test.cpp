#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "fult/scheduler/team.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

TEST(runtime, one_after_the_other) {
    for (unsigned i = 0; i < 20; ++i) {
        const runtime running(workers(1 + i % 4));
        EXPECT_EQ(fult::worker_count(), static_cast<int>(1 + i % 4));
        EXPECT_EQ(running.effective_options().workers, 1 + i % 4);
        EXPECT_TRUE(fult::in_task());
        EXPECT_EQ(spawn([] { return 7; }).join(), 7);
    }
    EXPECT_EQ(fult::worker_count(), 0);
    EXPECT_FALSE(fult::in_task());
}

TEST(runtime, a_worker_a_usable_processor_by_default) {
    fult::options o;
    o.bind = fult::bind_mode::off;
    const runtime running(o);
    EXPECT_GE(fult::worker_count(), 1);
    EXPECT_LE(fult::worker_count(), std::thread::hardware_concurrency());
}

TEST(runtime, on_any_thread_but_one_at_a_time) {
    std::thread([] {
        const runtime running(workers(2));
        EXPECT_EQ(spawn([] { return 1; }).join(), 1);
    }).join();
    const runtime running(workers(2));
    std::thread([] { EXPECT_THROW(runtime(workers(1)), std::logic_error); }).join();
    EXPECT_THROW(runtime(workers(1)), std::logic_error);
    spawn([] { EXPECT_THROW(runtime(workers(1)), std::logic_error); }).join();
    EXPECT_EQ(spawn([] { return 1; }).join(), 1) << "the running one is none the worse";
}

// The search lasts more than an hour.
TEST(runtime, the_end_does_not_wait_for_workers_that_look_for_work) {
    for (int i = 0; i < 20; ++i) {
        std::optional<runtime> running(workers(2));
        // No worker reads it meanwhile: one runs this task, the other one computes.
        auto sets = fult::spawn_pinned(1, [] { fult::detail::running_team()->opts.idle_spin = ~0u; });
        fult::testing::spin_until([&] { return sets.done(); });
        sets.join();
        spawn([] {}).join();
        fult::testing::expect_ends([&] { running.reset(); });
    }
}

TEST(runtime, the_end_waits_for_detached_tasks) {
    for (const unsigned n : {1u, 2u}) {
        std::atomic<int> ran{0};
        {
            const runtime running(workers(n));
            for (int i = 0; i < 100; ++i)
                spawn([&, i] {
                    if (i % 2)
                        this_task::yield();
                    spawn([&] {
                        this_task::yield();
                        ran.fetch_add(1);
                    }).detach();
                    ran.fetch_add(1);
                }).detach();
            for (unsigned w = 0; w < n; ++w)
                fult::spawn_pinned(w, [&] { ran.fetch_add(1); }).detach();
        }
        EXPECT_EQ(ran.load(), 200 + static_cast<int>(n));
    }
}

TEST(runtime, the_end_waits_for_what_a_foreign_thread_wakes) {
    for (const unsigned n : {1u, 2u}) {
        std::atomic<bool> go{false}, ran{false};
        std::atomic<std::uintptr_t> sleeper_id{0};
        std::thread foreign;
        {
            const runtime running(workers(n));
            spawn([&] {
                sleeper_id = this_task::id().value();
                while (!go.load())
                    this_task::wait();
                ran = true;
            }).detach();
            foreign = std::thread([&] {
                fult::testing::spin_until([&] { return sleeper_id.load() != 0; });
                go = true;
                signal(fult::task_id::from_value(sleeper_id.load()));
            });
        }
        EXPECT_TRUE(ran.load());
        foreign.join();
    }
}

TEST(runtime, the_affinity_of_the_caller_is_restored) {
    cpu_set_t before, after;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    {
        fult::options o;
        o.workers = 1;
        o.bind = fult::bind_mode::on;
        const runtime running(o);
        cpu_set_t bound;
        ASSERT_EQ(::sched_getaffinity(0, sizeof bound, &bound), 0);
        EXPECT_EQ(CPU_COUNT(&bound), 1);
    }
    ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(runtime, more_workers_than_processors_are_not_bound) {
    cpu_set_t before, now;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    fult::options o;
    o.workers = 2 * static_cast<unsigned>(CPU_COUNT(&before));
    o.bind = fult::bind_mode::on;
    const runtime running(o);
    EXPECT_EQ(running.effective_options().bind, fult::bind_mode::off);
    ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &now));
}

TEST(runtime, an_exception_in_flight_ends_it_in_order) {
    std::atomic<int> ran{0};
    EXPECT_THROW(
        {
            const runtime running(workers(2));
            for (int i = 0; i < 20; ++i)
                spawn([&] {
                    this_task::yield();
                    ran.fetch_add(1);
                }).detach();
            throw std::runtime_error("out of the scope of the runtime");
        },
        std::runtime_error);
    EXPECT_EQ(ran.load(), 20);
}

// The child is private to a worker that reaches no scheduling point, and no other worker is idle.
TEST(runtime, its_end_runs_what_a_computing_worker_hides) {
    std::atomic<bool> computing{false}, ran{false};
    {
        const runtime running(workers(2));
        fult::spawn_pinned(1, [&] {
            spawn([&] { ran = true; }).detach();
            computing = true;
            fult::testing::spin_until([&] { return ran.load(); });
        }).detach();
        fult::testing::spin_until([&] { return computing.load(); });
    }
    EXPECT_TRUE(ran.load());
}

// 1,000 starts and stops are in tests/stress/.
TEST(runtime, stacks_of_the_smallest_size) {
    if (fult::testing::sanitized)
        GTEST_SKIP() << "the sanitizers' frames do not fit";
    fult::options o = workers(2);
    o.stack_size = 16 * 1024;
    const runtime running(o);
    std::vector<fult::handle<int>> all;
    for (int i = 0; i < 500; ++i)
        all.push_back(spawn([i] {
            this_task::yield();
            return i;
        }));
    int sum = 0;
    for (auto &each : all)
        sum += each.join();
    EXPECT_EQ(sum, 499 * 500 / 2);
}

} // namespace
