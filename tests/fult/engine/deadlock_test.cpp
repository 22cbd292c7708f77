// A program in which every task waits reports a deadlock; one whose tasks may be woken from outside does not.
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <initializer_list>
#include <thread>
#include <unistd.h>

#include <fult/blocking.hpp>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "fult/engine/blocking_pool.hpp"
#include "tests/support/restarting_test.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::deadlock_mode;
using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

fult::options with(deadlock_mode mode, unsigned count) {
    fult::options o = workers(count);
    o.deadlock = mode;
    o.trim_after = 20;
    return o;
}

struct deadlock_report : fult::testing::restarting_test {
    // The main task that runs `body` waits forever, and that is reported.
    template <class Body>
    static void expect(Body body, const char *text = "fult: deadlock: every task waits",
                       std::initializer_list<unsigned> workers_counts = {1, 2}) {
        for (const unsigned count : workers_counts)
            EXPECT_EXIT(
                {
                    const runtime running(with(deadlock_mode::abort, count));
                    body();
                },
                ::testing::KilledBySignal(SIGABRT), text);
    }
};

void lock_both(fult::qlock &first, fult::qlock &second, fult::barrier<> &both) {
    const std::lock_guard one(first);
    both.arrive_and_wait();
    const std::lock_guard two(second);
}

// A handler that only reports tasks wakes none: neither this runtime's nor that of the one before.
TEST_F(deadlock_report, comes_where_a_signal_asks_for_reports) {
    for (const int number : {SIGUSR1, 0})
        EXPECT_EXIT(
            {
                fult::options o = with(deadlock_mode::abort, 1);
                o.dump_signal = SIGUSR1;
                { const runtime running(o); }
                o.dump_signal = number;
                const runtime running(o);
                this_task::wait();
            },
            ::testing::KilledBySignal(SIGABRT), "fult: deadlock: every task waits");
}

TEST_F(deadlock_report, comes_with_all_tasks) {
    expect(
        [] {
            fult::qlock a;
            fult::qlock b;
            fult::barrier<> both(2);
            auto left = spawn({.name = "left"}, [&] { lock_both(a, b, both); });
            auto right = spawn({.name = "right"}, [&] { lock_both(b, a, both); });
            fult::join_all(left, right);
        },
        "fult: deadlock: every task waits.*");
    expect(
        [] {
            spawn({.name = "left"}, [] {
                fult::event never;
                never.wait();
            }).join();
        },
        "waits for event at", {2});
}

TEST_F(deadlock_report, comes_where_times_were_waited_for_before) {
    expect([] {
        fult::event never;
        static_cast<void>(never.wait_for(std::chrono::milliseconds(1))); // time: a lower bound
        never.wait();
    });
}

// A thread of the pool for blocking calls stays, but has no task to wake.
TEST_F(deadlock_report, comes_where_calls_have_blocked_before) {
    expect([] {
        fult::detail::idle_thread_milliseconds = -1; // for good: no report would come if it counted
        fult::event never;
        fult::run_blocking([] {});
        never.wait();
    });
}

TEST_F(deadlock_report, comes_once_the_last_other_thread_has_ended) {
    expect([] {
        fult::event never;
        std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(300)); // time: either order is right
        }).detach();
        never.wait();
    });
}

TEST(deadlock, of_tasks_that_the_runtime_waits_for_at_its_end) {
    // a report comes after ten seconds without progress: too long for every run, so only that it does not
    // come early
    const runtime running(with(deadlock_mode::abort, 2));
    auto child = spawn([] { return 7; });
    EXPECT_EQ(child.join(), 7);
}

// No deadlocks. The signal comes long after all tasks wait.
constexpr auto late = std::chrono::milliseconds(300); // time: either order is right
template <class Wake> void wakes_late(unsigned count, Wake wake) {
    const auto begin = std::chrono::steady_clock::now(); // time: a lower bound
    const runtime running(with(deadlock_mode::abort, count));
    std::atomic<bool> came{false};
    wake(came, this_task::id());
    while (!came.load())
        this_task::wait();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, late); // time: a lower bound
}

TEST(deadlock, is_none_where_another_thread_may_wake) {
    for (const unsigned count : {1u, 2u}) {
        std::thread outside;
        wakes_late(count, [&](std::atomic<bool> &came, fult::task_id self) {
            outside = std::thread([&came, self] {
                std::this_thread::sleep_for(late); // time: either order is right
                came.store(true);
                fult::signal(self);
                // the runtime ends only after this, as the main task is what waits
            });
        });
        outside.join();
    }
}

std::atomic<bool> *flag_of_handler = nullptr;
std::atomic<std::uintptr_t> waiter_of_handler{0};

TEST(deadlock, is_none_where_a_signal_handler_may_wake) {
    const auto before = std::signal(SIGALRM, [](int) {
        flag_of_handler->store(true);
        fult::signal(fult::task_id::from_value(waiter_of_handler.load()));
    });
    wakes_late(2, [](std::atomic<bool> &came, fult::task_id self) {
        flag_of_handler = &came;
        waiter_of_handler = self.value();
        // time: either order is right
        ::ualarm(static_cast<useconds_t>(std::chrono::microseconds(late).count()),
                 0); // time: either order is right
    });
    std::signal(SIGALRM, before);
}

TEST(deadlock, is_none_where_a_time_ends_the_wait) {
    const runtime running(with(deadlock_mode::abort, 2));
    fult::event never;
    EXPECT_FALSE(never.wait_for(late));
}

TEST_F(deadlock_report, may_be_silenced) {
    EXPECT_EXIT(
        {
            const runtime running(with(deadlock_mode::off, 2));
            ::signal(SIGALRM, SIG_DFL);
            // time: either order is right
            ::ualarm(static_cast<useconds_t>(std::chrono::microseconds(late).count()),
                     0); // its default: the end
            fult::event never;
            never.wait();
        },
        ::testing::KilledBySignal(SIGALRM), "^$");
}

} // namespace
