// What a task keeps when it suspends and resumes elsewhere: errno, exceptions in flight, its locals.
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <exception>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/fult.hpp>

#include "fult/scheduler/worker.hpp"
#include "tests/support/asleep.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
namespace this_task = fult::this_task;

// The compiler may keep the address of errno across a suspension, which these do not let it.
[[gnu::noinline]] void set_errno(int value) { errno = value; }
[[gnu::noinline]] int get_errno() {
    asm volatile("");
    return errno;
}

// Gives up the worker in one of several ways, so that tasks change workers a lot.
void suspend_somehow(int i) {
    switch (i % 3) {
    case 0:
        this_task::yield();
        break;
    case 1:
        signal(this_task::id());
        this_task::wait();
        break;
    default:
        spawn([] { this_task::yield(); }).join();
    }
}

class switch_test : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
    const int tasks = 24;
    const int rounds = static_cast<int>(fult::testing::scaled(300)) + 3;

    template <class Body> void in_many_tasks(Body body) {
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < tasks; ++i)
            all.push_back(spawn([=, this] {
                for (int n = 0; n < rounds; ++n)
                    body(i, n);
            }));
        join_all(all);
    }
};
INSTANTIATE_TEST_SUITE_P(workers, switch_test, ::testing::Values(1u, 2u, 4u));

TEST_P(switch_test, errno_belongs_to_the_task) {
    in_many_tasks([](int task, int n) {
        set_errno(task + 1000);
        suspend_somehow(task + n);
        ASSERT_EQ(get_errno(), task + 1000);
    });
}

TEST_P(switch_test, a_caught_exception_is_still_current_after_a_suspension) {
    in_many_tasks([](int task, int n) {
        const std::string what = std::to_string(task) + "." + std::to_string(n);
        try {
            try {
                throw std::runtime_error(what);
            } catch (const std::runtime_error &error) {
                suspend_somehow(task + n);
                ASSERT_EQ(error.what(), what);
                ASSERT_EQ(std::uncaught_exceptions(), 0);
                throw; // right after it was resumed, perhaps on another worker
            }
        } catch (const std::runtime_error &error) {
            ASSERT_EQ(error.what(), what);
            try {
                throw std::logic_error("inner");
            } catch (const std::logic_error &) {
                suspend_somehow(task + n + 1);
            }
            ASSERT_TRUE(std::current_exception());
            try {
                throw;
            } catch (const std::exception &again) {
                ASSERT_EQ(again.what(), what);
            }
        }
        ASSERT_FALSE(std::current_exception());
    });
}

struct suspends_in_its_destructor {
    int which;
    ~suspends_in_its_destructor() {
        EXPECT_EQ(std::uncaught_exceptions(), 1);
        suspend_somehow(which);
        EXPECT_EQ(std::uncaught_exceptions(), 1);
        try {
            throw which;
        } catch (int caught) {
            suspend_somehow(which + 1);
            EXPECT_EQ(caught, which);
        }
        EXPECT_EQ(std::uncaught_exceptions(), 1);
    }
};

TEST_P(switch_test, unwinding_goes_on_after_a_suspension) {
    in_many_tasks([](int task, int n) {
        const std::string what = std::to_string(task * 1000 + n);
        try {
            const suspends_in_its_destructor local{task + n};
            throw std::runtime_error(what);
        } catch (const std::runtime_error &error) {
            ASSERT_EQ(error.what(), what);
        }
        ASSERT_EQ(std::uncaught_exceptions(), 0);
    });
}

TEST_P(switch_test, a_new_task_has_no_exception_in_flight) {
    in_many_tasks([](int task, int n) {
        try {
            throw task;
        } catch (int) {
            auto child = spawn({.stack_size = 1}, [] { // a stack of its own
                EXPECT_FALSE(std::current_exception());
                EXPECT_EQ(std::uncaught_exceptions(), 0);
                this_task::yield();
                EXPECT_FALSE(std::current_exception());
            });
            if (n % 2)
                this_task::yield();
            child.join();
            ASSERT_TRUE(std::current_exception());
        }
    });
}

TEST_P(switch_test, locals_and_floating_point_survive) {
    in_many_tasks([](int task, int n) {
        double x = task + 0.25, y = n + 0.5, z = 1.0 / (1 + task);
        std::vector<int> local(100, task);
        suspend_somehow(task + n);
        ASSERT_EQ(x + y, task + n + 0.75);
        ASSERT_EQ(z * (1 + task), (1.0 / (1 + task)) * (1 + task));
        for (const int each : local)
            ASSERT_EQ(each, task);
    });
}

TEST_P(switch_test, rounding_belongs_to_the_task) {
    if (fult::testing::under_valgrind())
        GTEST_SKIP() << "it computes with one way of rounding";
    in_many_tasks([](int task, int n) {
        constexpr int ways[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
        const int before = std::fegetround();
        std::fesetround(ways[task % 4]);
        suspend_somehow(task + n);
        const int after = std::fegetround();
        std::fesetround(before); // others run on this stack afterwards
        ASSERT_EQ(after, ways[task % 4]);
    });
}

struct fp_environment : ::testing::Test {
    void SetUp() override {
        if (fult::testing::under_valgrind())
            GTEST_SKIP() << "it computes with one way of rounding";
    }
    static fult::options own() {
        fult::options o = fult::testing::workers(2);
        o.fp_env = fult::fp_mode::own;
        return o;
    }
};

TEST_F(fp_environment, of_a_task_ends_with_it) {
    const fult::runtime running(own());
    const auto leaves_it_changed = [] {
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
        EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
        std::fesetround(FE_UPWARD);
        std::feraiseexcept(FE_DIVBYZERO);
        this_task::yield();
        EXPECT_EQ(std::fegetround(), FE_UPWARD);
        EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
    };
    for (int i = 0; i < 100; ++i) {
        spawn(leaves_it_changed).join(); // else in place: for its joiner, too
        std::vector<fult::handle<void>> many;
        for (int k = 0; k < 10; ++k)
            many.push_back(spawn(leaves_it_changed));
        join_all(many);
        fult::task_group group;
        for (int k = 0; k < 10; ++k)
            group.spawn(leaves_it_changed);
        group.wait();
        ASSERT_EQ(std::fegetround(), FE_TONEAREST);
        ASSERT_EQ(std::fetestexcept(FE_ALL_EXCEPT), 0);
    }
}

TEST_F(fp_environment, starts_as_that_of_the_runtime_s_start) {
    std::fesetround(FE_TOWARDZERO);
    {
        const fult::runtime running(own());
        std::fesetround(FE_DOWNWARD);
        EXPECT_EQ(spawn([] { return std::fegetround(); }).join(), FE_TOWARDZERO);
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    }
    std::fesetround(FE_TONEAREST);
}

TEST_F(fp_environment, of_deep_recursions_too) {
    const fult::runtime running(own());
    struct tree {
        static int leaves(int depth) {
            EXPECT_EQ(std::fegetround(), FE_TONEAREST);
            std::fesetround(FE_UPWARD);
            if (depth == 0)
                return 1;
            auto left = spawn([=] { return leaves(depth - 1); });
            const int right = spawn([=] { return leaves(depth - 1); }).join();
            return left.join() + right;
        }
    };
    const int depth = fult::testing::sanitized ? 7 : 10;
    EXPECT_EQ(spawn([=] { return tree::leaves(depth); }).join(), 1 << depth);
}

// The same for the library's own thread-local variables: one function that reads it before and after it has
// changed threads must not be given the first answer twice, in link-time optimization neither.
[[gnu::noinline]] void change_workers() {
    const int before = this_task::worker();
    std::atomic<bool> moved{false};
    auto busy = fult::spawn_pinned(before, [&] { fult::testing::spin_until([&] { return moved.load(); }); });
    while (this_task::worker() == before)
        this_task::yield();
    moved.store(true);
    busy.join();
}

// A task with a public bit yields to one that computes on its worker, while the other worker sleeps.
void yield_beside_a_sleeping_worker(bool private_words) {
    fult::options o = fult::testing::workers(2);
    o.idle_spin = 0;
    o.private_words = private_words;
    const fult::runtime running(o);
    fult::spawn_on(1, [] {
        for (int i = 0; i < 5; ++i) {
            fult::testing::spin_until_asleep(1);
            change_workers();
        }
    }).join();
}
TEST(switch_of_threads, a_task_of_another_spawner_that_yields_wakes_a_worker) {
    fult::testing::expect_ends([] { yield_beside_a_sleeping_worker(true); });
}
TEST(switch_of_threads, a_task_that_yields_wakes_a_worker_without_private_words) {
    fult::testing::expect_ends([] { yield_beside_a_sleeping_worker(false); });
}

namespace {
// As the C library knows it.
fult::stack_bounds stack_of_thread() {
    pthread_attr_t attributes;
    void *low = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    EXPECT_EQ(pthread_attr_getstack(&attributes, &low, &size), 0);
    pthread_attr_destroy(&attributes);
    return {static_cast<std::byte *>(low), size, 0};
}
bool is_on_thread_stack() {
    const fult::stack_bounds threads = stack_of_thread(), mine = this_task::stack();
    return mine.low == threads.low && mine.size == threads.size;
}
} // namespace

TEST(switch_of_threads, a_pinned_task_starts_on_its_threads_own_stack) {
    const fult::runtime running(fult::testing::workers(3));
    for (int i = 0; i < 100; ++i)
        for (int w = 0; w < 3; ++w)
            EXPECT_EQ(fult::spawn_pinned(w,
                                         [] {
                                             const bool begins = is_on_thread_stack();
                                             suspend_somehow(this_task::worker());
                                             return begins && is_on_thread_stack();
                                         })
                          .join(),
                      w != 0)
                << "the main task is on that of worker 0";
}

TEST(switch_of_threads, one_pinned_task_at_a_time_is_on_its_threads_own_stack) {
    const fult::runtime running(fult::testing::workers(2));
    for (int i = 0; i < 100; ++i) {
        fult::event has_begun, may_end;
        auto first = fult::spawn_pinned(1, [&] {
            has_begun.set();
            may_end.wait();
            return is_on_thread_stack();
        });
        has_begun.wait();
        EXPECT_FALSE(fult::spawn_pinned(1, is_on_thread_stack).join());
        may_end.set();
        EXPECT_TRUE(first.join());
        EXPECT_TRUE(fult::spawn_pinned(1, is_on_thread_stack).join());
    }
}

TEST(switch_of_threads, other_tasks_and_larger_ones_have_stacks_of_the_pool) {
    const fult::runtime running(fult::testing::workers(2));
    const std::size_t larger = std::size_t{64} << 20;
    EXPECT_FALSE(fult::spawn({.stack_size = larger, .worker = 1, .pinned = true}, is_on_thread_stack).join());
    for (int i = 0; i < 100; ++i)
        EXPECT_FALSE(fult::spawn_on(1,
                                    [] { // or in place of the main task
                                        return this_task::worker() == 1 && is_on_thread_stack();
                                    })
                         .join());
    EXPECT_TRUE(
        fult::spawn({.stack_size = std::size_t{1} << 20, .worker = 1, .pinned = true}, is_on_thread_stack)
            .join());
}

TEST(switch_of_threads, the_thread_is_read_again_after_a_switch) {
    const fult::runtime running(fult::testing::workers(2));
    fult::spawn_on(1, [] {
        for (int i = 0; i < 10; ++i) {
            const int before = this_task::worker();
            const void *const first = fult::detail::this_thread();
            change_workers();
            const void *const second = fult::detail::this_thread();
            if (this_task::worker() != before) {
                EXPECT_NE(first, second);
            } else {
                EXPECT_EQ(first, second);
            }
        }
    }).join();
}

TEST(switch_of_threads, a_blocking_calls_errno_arrives_after_a_switch) {
    const fult::runtime running(fult::testing::workers(2));
    fult::spawn_on(1, [] {
        for (int i = 1; i < 10; ++i) {
            set_errno(100);
            fult::run_blocking([i] { set_errno(i); });
            EXPECT_EQ(get_errno(), i);
            change_workers();
            EXPECT_EQ(get_errno(), i);
        }
    }).join();
}

} // namespace
