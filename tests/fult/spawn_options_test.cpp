#include <atomic>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::spawn_on;
using fult::spawn_pinned;
namespace this_task = fult::this_task;

[[gnu::noinline]] long kernel_thread() { return ::syscall(SYS_gettid); }

TEST(spawn_options, a_pinned_task_stays) {
    const fult::runtime running(fult::testing::workers(3));
    std::vector<fult::handle<void>> all;
    std::atomic<int> gone{0};
    for (int w = 0; w < 3; ++w)
        for (int i = 0; i < 5; ++i)
            all.push_back(spawn_pinned(w, [w, &gone] {
                const long thread = kernel_thread();
                const auto at_home = [&] {
                    gone += this_task::worker() == w && kernel_thread() == thread ? 0 : 1;
                };
                for (int n = 0; n < 50; ++n) {
                    at_home();
                    this_task::yield();
                    at_home();
                    auto child = spawn([&] {
                        this_task::yield();
                        this_task::yield();
                    });
                    child.join();
                    at_home();
                    signal(this_task::id());
                    this_task::wait();
                    at_home();
                }
            }));
    join_all(all);
    EXPECT_EQ(gone.load(), 0);
}

// A child that a pinned parent runs inline shares its stack: it cannot leave either.
TEST(spawn_options, inline_children_of_a_pinned_task_stay) {
    const fult::runtime running(fult::testing::workers(2));
    std::vector<fult::handle<int>> all;
    for (int w = 0; w < 2; ++w)
        for (int i = 0; i < 4; ++i)
            all.push_back(spawn_pinned(w, [w] {
                int inline_ones = 0;
                for (int n = 0; n < 100; ++n) {
                    const int here = 0;
                    auto child = spawn([w, &here] {
                        // on the same stack: a distance that no two stacks have
                        const auto distance =
                            reinterpret_cast<std::uintptr_t>(&here) - reinterpret_cast<std::uintptr_t>(&w);
                        const bool same_stack = distance < 100 * 1024;
                        for (int k = 0; k < 3; ++k) {
                            if (same_stack) {
                                EXPECT_EQ(this_task::worker(), w);
                            }
                            k % 2 ? signal(this_task::id()) : void();
                            k % 2 ? this_task::wait() : this_task::yield();
                        }
                        return same_stack ? 1 : 0;
                    });
                    inline_ones += child.join();
                }
                return inline_ones;
            }));
    for (auto &each : all)
        each.join();
}

TEST(spawn_options, main_is_pinned_to_worker_0) {
    const long thread = kernel_thread();
    const fult::runtime running(fult::testing::workers(2));
    for (int i = 0; i < 200; ++i) {
        auto child = spawn([] { this_task::yield(); });
        this_task::yield();
        child.join();
        ASSERT_EQ(this_task::worker(), 0);
        ASSERT_EQ(kernel_thread(), thread);
    }
}

TEST(spawn_options, tasks_given_to_a_worker_run) {
    const fult::runtime running(fult::testing::workers(2));
    std::atomic<int> ran{0};
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 2000; ++i) // more than a line of slots
        all.push_back(i % 2 ? spawn_on(i / 2 % 2, [&] { ran.fetch_add(1); }) : spawn_pinned(i / 2 % 2, [&] {
            this_task::yield();
            ran.fetch_add(1);
        }));
    join_all(all);
    EXPECT_EQ(ran.load(), 2000);
}

TEST(spawn_options, workers_that_do_not_exist_are_refused) {
    const fult::runtime running(fult::testing::workers(2));
    for (const int none : {-7, -2, 2, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
        EXPECT_THROW((void)fult::spawn({.worker = none}, [] {}), std::out_of_range) << none;
        EXPECT_THROW((void)spawn_on(none, [] {}), std::out_of_range) << none;
        EXPECT_THROW((void)spawn_pinned(none, [] {}), std::out_of_range) << none;
    }
    EXPECT_EQ(fult::spawn({.worker = -1}, [] { return 1; }).join(), 1);
    EXPECT_EQ(fult::spawn({.worker = this_task::worker()}, [] { return 1; }).join(), 1);
    EXPECT_EQ(spawn_on(-1, [] { return 1; }).join(), 1);
}

// Slots that are given back by other workers are used again: many times more tasks than slots.
TEST(spawn_options, slots_for_others_come_back) {
    fult::options o = fult::testing::workers(2);
    o.max_tasks = 1024;
    const fult::runtime running(o);
    std::atomic<std::size_t> ran{0};
    const std::size_t rounds = fult::testing::scaled(3000);
    for (std::size_t i = 0; i < rounds; ++i) {
        std::vector<fult::handle<void>> some;
        some.push_back(spawn_on(1, [&] { ++ran; }));
        some.push_back(spawn_pinned(1, [&] { ++ran; }));
        some.push_back(spawn([&] {
            this_task::yield();
            ++ran;
        }));
        join_all(some);
    }
    EXPECT_EQ(ran.load(), 3 * rounds);
}

TEST(spawn_options, without_stealing_tasks_stay_where_they_were_given) {
    fult::options o = fult::testing::workers(2);
    o.stealing = false;
    const fult::runtime running(o);
    for (int w = 0; w < 2; ++w) {
        std::vector<fult::handle<int>> all;
        for (int i = 0; i < 50; ++i)
            all.push_back(spawn_on(w, [] {
                this_task::yield();
                return this_task::worker();
            }));
        for (auto &each : all)
            EXPECT_EQ(each.join(), w);
    }
}

// A worker that has a stealable task and does not run it cannot keep it.
TEST(spawn_options, a_task_given_to_a_busy_worker_is_stolen) {
    const fult::runtime running(fult::testing::workers(2));
    std::atomic<int> ran{0};
    const auto count = [&] {
        EXPECT_EQ(this_task::worker(), 0);
        ran.fetch_add(1);
    };
    auto busy = spawn_pinned(1, [&] {
        for (int i = 0; i < 10; ++i)
            spawn(count).detach();
        spawn_on(1, count).detach();
        fult::testing::spin_until([&] { return ran.load() == 11; });
    });
    busy.join();
}

[[gnu::noinline]] unsigned deep(unsigned n) {
    volatile char frame[1024];
    frame[n % 1024] = 1;
    return n == 0 ? 0 : deep(n - 1) + frame[n % 1024];
}

TEST(spawn_options, a_larger_stack) {
    const fult::runtime running(fult::testing::workers(2));
    constexpr unsigned depth =
        fult::testing::sanitized ? 1000 : 4000; // KiB at least, where the ordinary stack has 256
    std::vector<fult::handle<unsigned>> all;
    for (int i = 0; i < 8; ++i)
        all.push_back(spawn({.name = "deep", .stack_size = 16u << 20}, [] {
            this_task::yield();
            const unsigned result = deep(depth);
            EXPECT_EQ(spawn([] { return 4; }).join(), 4);
            this_task::yield();
            return result;
        }));
    for (auto &each : all)
        EXPECT_EQ(each.join(), depth);
    EXPECT_EQ(spawn({.stack_size = 1}, [] { return 3; }).join(), 3) << "less than the ordinary: the ordinary";
}

TEST(spawn_options, what_cannot_be) {
    const fult::runtime running(fult::testing::workers(2));
    EXPECT_THROW((void)spawn_on(2, [] {}), std::out_of_range);
    EXPECT_THROW((void)spawn_pinned(100, [] {}), std::out_of_range);
    EXPECT_THROW((void)spawn({.stack_size = std::size_t{1} << 50}, [] {}), std::invalid_argument);
    std::thread([] {
        EXPECT_THROW((void)spawn({.pinned = true}, [] {}), std::invalid_argument);
        spawn_pinned(1, [] { EXPECT_EQ(this_task::worker(), 1); }).join();
    }).join();
    try {
        spawn_on(7, [] {}).join();
    } catch (const std::out_of_range &error) {
        EXPECT_NE(std::string(error.what()).find("no worker 7"), std::string::npos) << error.what();
    }
}

} // namespace
