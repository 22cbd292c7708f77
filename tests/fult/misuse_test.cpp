// Misuse ends in one message that names the call.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.h>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/restarting_test.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

using misuse = fult::testing::restarting_test;

// Runs a statement as the main task.
#define FULT_EXPECT_MISUSE(statement, message) \
    EXPECT_DEATH(                              \
        {                                      \
            const runtime running(workers(2)); \
            statement;                         \
        },                                     \
        message)

// No thread can join it: the thread that has the handle waits for the runtime's end.
TEST_F(misuse, a_handle_that_outlives_its_runtime) {
    EXPECT_DEATH(
        {
            fult::handle<int> outer;
            const runtime running(workers(2));
            outer = spawn([] { return 1; });
        },
        "fult: runtime: its end waits for 1 task.s. that have ended and were neither joined nor detached");
}

TEST_F(misuse, an_exception_that_is_null) {
    FULT_EXPECT_MISUSE(fult::promise<int>().set_exception(nullptr),
                       "fult: promise::set_exception: the pointer is null: there is no exception");
}
TEST_F(misuse, join_all_of_an_empty_handle) {
    FULT_EXPECT_MISUSE(fult::join_all(std::vector<fult::handle<void>>(2)),
                       "fult: join: the handle owns no task");
    FULT_EXPECT_MISUSE((void)fult::join_all(fult::handle<int>()), "fult: join: the handle owns no task");
}

// Another thread still may.
TEST(ended_tasks, may_be_joined_by_another_thread_while_the_runtime_ends) {
    fult::handle<int> outer;
    std::thread joiner;
    {
        const runtime running(workers(2));
        std::atomic<bool> there{false};
        outer = spawn([] { return 1; });
        joiner = std::thread([&there, &outer] {
            there = true;
            // The end mostly waits for it by then.
            std::this_thread::sleep_for(std::chrono::milliseconds(50)); // time: either order is right
            EXPECT_EQ(outer.join(), 1);
        });
        fult::testing::spin_until([&] { return there.load(); });
    }
    joiner.join();
}

// A handle in C is a value: the slot of its task may be free by then, or another task may have it.
TEST_F(misuse, of_a_handle_in_c) {
    struct tasks {
        fult_task_t old = nullptr, next = nullptr;
        explicit tasks(int (*end)(fult_task_t)) {
            const fult_function_t same = [](void *argument) { return argument; };
            EXPECT_EQ(fult_spawn(&old, same, nullptr), FULT_SUCCESS);
            EXPECT_EQ(end(old), FULT_SUCCESS);
            this_task::yield(); // a detached one has ended
            EXPECT_EQ(fult_spawn(&next, same, nullptr), FULT_SUCCESS);
            EXPECT_NE(old, next);
        }
    };
    const auto join = [](fult_task_t task) { return fult_join(task, nullptr); };
    FULT_EXPECT_MISUSE(fult_join(tasks(join).old, nullptr),
                       "fult: fult_join: the task was joined or detached already");
    FULT_EXPECT_MISUSE(fult_detach(tasks(join).old),
                       "fult: fult_detach: the task was joined or detached already");
    FULT_EXPECT_MISUSE(fult_join(tasks(fult_detach).old, nullptr), "fult: fult_join: the task was joined");
    FULT_EXPECT_MISUSE(fult_detach(tasks(fult_detach).old), "fult: fult_detach: the task was joined");
    FULT_EXPECT_MISUSE(fult_task_id(tasks(join).old), "fult: fult_task_id: the task was joined");
    FULT_EXPECT_MISUSE(
        {
            tasks both(join);
            fult_task_t all[2];
            all[0] = both.next;
            all[1] = both.old;
            fult_join_all(all, 2, nullptr);
        },
        "fult: fult_join_all: the task was joined");
    FULT_EXPECT_MISUSE(
        {
            const tasks both(join);
            fult_task_t all[2];
            all[0] = both.next;
            all[1] = both.old;
            std::size_t first = 0;
            fult_wait_any(all, 2, &first);
        },
        "fult: fult_wait_any: the task was joined");
}

TEST(ended_tasks, are_not_joined_in_c_without_a_runtime) {
    fult_task_t task = nullptr;
    {
        const runtime running(workers(1));
        ASSERT_EQ(fult_spawn(
                      &task, [](void *argument) { return argument; }, nullptr),
                  FULT_SUCCESS);
        ASSERT_EQ(fult_join(task, nullptr), FULT_SUCCESS);
    }
    EXPECT_EQ(fult_join(task, nullptr), FULT_ERR_NO_RUNTIME);
    EXPECT_EQ(fult_join_all(&task, 1, nullptr), FULT_ERR_NO_RUNTIME);
    EXPECT_EQ(fult_detach(task), FULT_ERR_NO_RUNTIME);
}

TEST_F(misuse, of_a_handle) {
    FULT_EXPECT_MISUSE(
        {
            auto h = spawn([] {});
            h.join();
            h.join();
        },
        "fult: join: the handle owns no task");
    FULT_EXPECT_MISUSE(
        {
            auto h = spawn([] {});
            h.detach();
            h.join();
        },
        "fult: join: the handle owns no task");
    FULT_EXPECT_MISUSE(
        {
            auto h = spawn([] {});
            auto other = std::move(h);
            h.detach();
        },
        "fult: detach: the handle owns no task");
    FULT_EXPECT_MISUSE(fult::handle<int>().join(), "fult: join: the handle owns no task");
}

TEST_F(misuse, a_task_that_joins_itself) {
    FULT_EXPECT_MISUSE(
        {
            fult::handle<void> h;
            std::atomic<bool> assigned{false}; // another worker may run the task before h is one
            h = spawn([&] {
                while (!assigned.load())
                    this_task::yield();
                h.join();
            });
            assigned.store(true);
            while (true)
                this_task::yield();
        },
        "fult: join: a task joins itself");
}

TEST_F(misuse, calls_that_are_for_tasks) {
    EXPECT_DEATH(this_task::wait(),
                 "fult: this_task::wait: called on a thread that runs no task; start a fult::runtime");
    EXPECT_DEATH(this_task::wait([] { return false; }), "fult: this_task::wait: called on a thread");
    EXPECT_DEATH(this_task::yield(), "fult: this_task::yield: called on a thread");
    EXPECT_DEATH(this_task::id(), "fult: this_task::id: called on a thread");
    EXPECT_DEATH(this_task::worker(), "fult: this_task::worker: called on a thread");
    EXPECT_DEATH(this_task::name(), "fult: this_task::name: called on a thread");
    FULT_EXPECT_MISUSE(std::thread([] { this_task::wait(); }).join(),
                       "fult: this_task::wait: called on a thread");
}

TEST_F(misuse, a_runtime_ended_by_another_task) {
    EXPECT_DEATH(
        {
            auto *running = new runtime(workers(2));
            spawn([=] {
                this_task::yield();
                delete running;
            }).join();
        },
        "fult: runtime: not stopped by the main task");
    EXPECT_DEATH(
        {
            auto *running = new runtime(workers(2));
            std::thread([=] { delete running; }).join();
        },
        "fult: runtime: not stopped by the main task");
}

TEST_F(misuse, an_exception_that_is_not_joined) {
    FULT_EXPECT_MISUSE(
        {
            spawn({.name = "loner"}, [] { throw std::runtime_error("what it was"); }).detach();
            while (true)
                this_task::yield();
        },
        "fult: task: detached task 'loner' ended with an exception: what it was");
    FULT_EXPECT_MISUSE(
        {
            spawn([] { throw 5; }).detach();
            while (true)
                this_task::yield();
        },
        "detached task 'unnamed' ended with an exception other than a std::exception");
    FULT_EXPECT_MISUSE(
        {
            auto h = spawn([] { throw std::runtime_error("late"); });
            fult::testing::spin_until([&] { return h.done(); });
            h.detach();
        },
        "ended with an exception: late");
}

#if !defined(NDEBUG)
TEST_F(misuse, a_signal_to_a_task_that_has_ended) {
    EXPECT_EXIT(
        {
            const runtime running(workers(1));
            auto h = spawn([] {});
            const fult::task_id id = h.id();
            h.join();
            fult::signal(id);
            ::_exit(3); // the program continues
        },
        ::testing::ExitedWithCode(3), "fult: signal: the task with the id 0x[0-9a-f]+ has ended");
}
#endif

TEST_F(misuse, a_second_joiner) {
    FULT_EXPECT_MISUSE(
        {
            std::atomic<bool> started{false};
            auto h = spawn([&] {
                started = true;
                while (true)
                    this_task::yield();
            });
            while (!started.load()) // so that neither joiner runs it itself
                this_task::yield();
            auto waiter = spawn([&] { wait_all(h); });
            wait_all(h);
            waiter.join();
        },
        "fult: join_all: another task or thread joins this task already");
}

} // namespace
