// A ready task runs after a bounded number of decisions, whatever the others do: docs/scheduler.md,
// "Fairness". Each loop counts its steps, and ends after far more than the bound: a test ends on
// any machine. The calls that a task repeats: repeated_calls_test.cpp.
#include <algorithm>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>

#include "fult/tasks/task.hpp"
#include "tests/support/repeat_until.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace std::chrono_literals;
using fult::spawn;
using fult::testing::give_up;
using fult::testing::repeat_until;
using fult::testing::spin_until;
using fult::testing::workers;
namespace this_task = fult::this_task;

// A worker that computes ----------------------------------------------------------------------------------------

// Two workers, of which one computes until the task under test has run, or all have given up.
class beside_one_that_computes : public ::testing::Test {
  protected:
    // On worker 1: `before` makes something ready there, then it computes while `here` continues.
    template <class Before, class Here> void play(Before before, Here here) {
        std::atomic<bool> computes{false}, over{false};
        auto busy = fult::spawn_pinned(1, [&] {
            before();
            computes = true;
            spin_until([&] { return over.load(); });
        });
        while (!computes.load())
            this_task::yield();
        here();
        over = true;
        busy.join();
    }
    // This worker is never idle: its two tasks yield to each other until `ran` is set.
    void two_that_yield(const std::atomic<bool> &ran) {
        auto other = spawn([&] { return repeat_until(ran, [] { this_task::yield(); }); });
        EXPECT_TRUE(repeat_until(ran, [] { this_task::yield(); }));
        EXPECT_TRUE(other.join());
    }
    fult::runtime running{workers(2)};
};

TEST_F(beside_one_that_computes, what_it_has_spawned) {
    std::atomic<bool> ran{false};
    play([&] { spawn([&] { ran = true; }).detach(); }, [&] { two_that_yield(ran); });
}

TEST_F(beside_one_that_computes, what_yielded_there) {
    std::atomic<bool> ran{false}, started{false};
    play(
        [&] {
            spawn([&] {
                started = true;
                while (!ran.load()) {
                    this_task::yield();
                    ran = this_task::worker() == 0;
                }
            }).detach();
            while (!started.load())
                this_task::yield();
        },
        [&] { two_that_yield(ran); });
}

TEST_F(beside_one_that_computes, what_was_signaled_there) {
    std::atomic<bool> ran{false}, go{false};
    fult::task_id waiter;
    play(
        [&] {
            auto task = spawn([&] {
                while (!go.load())
                    this_task::wait();
                ran = true;
            });
            waiter = task.id();
            task.detach();
            this_task::yield();
        },
        [&] {
            go = true;
            auto other = spawn([&] { return repeat_until(ran, [] { this_task::yield(); }); });
            signal(waiter);
            EXPECT_TRUE(repeat_until(ran, [] { this_task::yield(); }));
            EXPECT_TRUE(other.join());
        });
}

TEST_F(beside_one_that_computes, what_it_has_handed_off) {
    std::atomic<bool> ran{false};
    fult::qlock lock;
    lock.lock();
    play(
        [&] {
            spawn([&] {
                lock.lock();
                ran = true;
                lock.unlock();
            }).detach();
            while (lock.waiting() == 0)
                this_task::yield();
            lock.unlock(); // to be passed on by this worker's next decision
        },
        [&] { two_that_yield(ran); });
}

// Three tasks of the worker that computes, two of which yield forever: all are in its public words, from
// which only the other worker takes. The third has the highest slot.
TEST_F(beside_one_that_computes, a_thief_reaches_all) {
    std::atomic<bool> ran{false};
    std::atomic<int> gave_up{0};
    const auto low = [&] {
        if (!repeat_until(ran, [] { this_task::yield(); }))
            ++gave_up;
    };
    std::vector<fult::handle<void>> tasks;
    play(
        [&] {
            tasks.push_back(fult::spawn_on(1, low));
            tasks.push_back(fult::spawn_on(1, low));
            tasks.push_back(fult::spawn_on(1, [&] { ran = true; }));
        },
        [&] { join_all(tasks); });
    EXPECT_EQ(gave_up, 0);
}

// One worker -------------------------------------------------------------------------------------------------------

// One loop that is longer than any bound, not many. It ends by an exception once the other task has run.
struct enough {};

class one_long_loop : public ::testing::TestWithParam<fult::schedule> {};

TEST_P(one_long_loop, a_task_that_has_not_started) {
    const fult::runtime running(workers(1));
    std::atomic<bool> ran{false};
    auto other = spawn([&] { ran = true; });
    const auto body = [&](long) {
        if (ran.load(std::memory_order_relaxed))
            throw enough();
    };
    EXPECT_THROW(fult::parallel_for(0L, 1L << 40, body, {.schedule = GetParam(), .grain = 1000}), enough);
    other.join();
}
INSTANTIATE_TEST_SUITE_P(schedules, one_long_loop,
                         ::testing::Values(fult::schedule::lazy, fult::schedule::fixed));

TEST(fairness, one_long_reduction) {
    const fult::runtime running(workers(1));
    std::atomic<bool> ran{false};
    const auto map = [&](long i) {
        if (ran.load(std::memory_order_relaxed))
            throw enough();
        return i;
    };
    for (const bool ordered : {false, true}) {
        ran = false;
        auto other = spawn([&] { ran = true; });
        EXPECT_THROW((void)fult::parallel_reduce(0L, 1L << 40, 0L, map, std::plus<>(),
                                                 {.grain = 1000, .ordered = ordered}),
                     enough);
        other.join();
    }
}

TEST(fairness, one_long_sort) {
    const fult::runtime running(workers(1));
    std::atomic<bool> ran{false};
    auto other = spawn([&] { ran = true; });
    std::vector<int> numbers(1 << 20);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<int>(i * 7919 % numbers.size());
    const auto before = [&](int a, int b) {
        if (ran.load(std::memory_order_relaxed))
            throw enough();
        return a < b;
    };
    EXPECT_THROW(fult::parallel_sort(numbers.begin(), numbers.end(), before), enough);
    other.join();
}

// Three tasks of foreign threads, two of which yield forever.
TEST(fairness, foreign_tasks_have_their_turn) {
    const fult::runtime running(workers(1));
    std::atomic<bool> ran{false}, over{false};
    std::atomic<int> gave_up{0};
    std::thread foreign([&] {
        const auto low = [&] {
            if (!repeat_until(ran, [] { this_task::yield(); }))
                ++gave_up;
        };
        auto first = spawn(low), second = spawn(low);
        auto third = spawn([&] { ran = true; });
        join_all(first, second, third);
        over = true;
    });
    while (!over.load())
        this_task::sleep_for(1ms); // time: between polls
    foreign.join();
    EXPECT_EQ(gave_up, 0);
}

// The ping-pong of two workers that poll for each other must not keep all else out.
TEST(fairness, waits_that_are_polled_for) {
    const fult::runtime running(workers(2));
    std::atomic<bool> ran{false}, spawned{false};
    std::atomic<long> turn{0}, since{0};
    fult::task_id ids[2];
    std::atomic<int> there{0};
    const auto play = [&](long mine) {
        ids[mine] = this_task::id();
        for (++there; there.load() != 2;)
            this_task::yield();
        while (since.load() < give_up / 10) {
            this_task::wait([&] { return turn.load() % 2 == mine; });
            if (ran.load())
                since = give_up;
            else if (spawned.load())
                since.fetch_add(1);
            turn.fetch_add(1);
            signal(ids[1 - mine]);
        }
    };
    auto a = fult::spawn_pinned(0, [&] { play(0); }), b = fult::spawn_pinned(1, [&] { play(1); });
    std::thread foreign([&] {
        auto task = spawn([&] { ran = true; });
        spawned = true;
        task.join();
    });
    join_all(a, b);
    EXPECT_TRUE(ran);
    while (!ran.load())
        this_task::sleep_for(1ms); // time: between polls
    foreign.join();
}

// A producer that only spawns: its children run and end at the same time.
TEST(fairness, a_task_that_only_spawns) {
    fult::options o = workers(1);
    o.max_tasks = 4096;
    const fult::runtime running(o);
    std::atomic<long> ran{0};
    long most = 0;
    bool first = false;
    auto other = spawn([&] { first = true; });
    const long all = 10 * 4096;
    for (long i = 0; i < all; ++i) {
        spawn([&] { ++ran; }).detach();
        most = std::max(most, i + 1 - ran.load());
    }
    EXPECT_TRUE(first);
    EXPECT_LT(most, 4096 / 2);
    other.join();
    while (ran.load() != all)
        this_task::yield();
}

// Trees that take turns on a worker leave the tasks of each in stack order. Their tasks would fill one word
// of slots after the other if those of a tree that waits for its turn were started one by one.
TEST(fairness, trees_that_take_turns_need_few_slots) {
    const fult::runtime running(workers(1));
    std::uint32_t highest = 0;
    const std::function<long(int)> fib = [&](int n) -> long {
        highest = std::max(highest, fult::detail::slot_of(fult::detail::to_task(this_task::id())));
        if (n < 2)
            return n;
        auto x = spawn([&fib, n] { return fib(n - 1); });
        const long y = fib(n - 2);
        return x.join() + y;
    };
    EXPECT_EQ(fib(30), 832040);  // some 160 rows of joins
    EXPECT_LT(highest, 4 * 64u); // 3 words in use; 6 without words of their own
}

// The same at the bound of the table, with tasks that take more than one turn.
TEST(fairness, a_spawn_into_a_full_table) {
    fult::options o = workers(2);
    o.max_tasks = 64;
    const fult::runtime running(o);
    std::atomic<long> ran{0};
    const long all = 64 * 20;
    for (const bool elsewhere : {false, true})
        for (long i = 0; i < all; ++i)
            fult::spawn({.name = "one of many", .worker = elsewhere ? 1 : -1}, [&] {
                this_task::yield();
                ++ran;
            }).detach();
    while (ran.load() < 2 * all)
        this_task::yield();
    EXPECT_EQ(ran.load(), 2 * all);
}

// A lock that was handed to a task which this worker is to run next.
class failed_tries : public ::testing::Test {
  protected:
    fult::runtime running{workers(1)};
    template <class Lock> void play(Lock &lock) {
        std::atomic<bool> queued{false};
        lock.lock();
        auto other = spawn([&] {
            queued = true;
            lock.lock();
            lock.unlock();
        });
        while (!queued.load())
            this_task::yield();
        this_task::yield(); // it waits
        for (int i = 0; i < 100; ++i) {
            lock.unlock();
            bool mine = false;
            for (long tries = 0; tries < give_up && !mine; ++tries)
                mine = lock.try_lock();
            ASSERT_TRUE(mine) << "after " << i << " times";
        }
        lock.unlock();
        other.join();
    }
};

TEST_F(failed_tries, qlock) {
    fult::qlock lock;
    play(lock);
}
TEST_F(failed_tries, shared_qlock) {
    fult::shared_qlock lock;
    play(lock);
}

} // namespace
