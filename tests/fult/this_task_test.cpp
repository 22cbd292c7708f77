#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/detail/running_stack.hpp>
#include <fult/fult.hpp>

#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::spawn_pinned;
using fult::stack_bounds;
namespace detail = fult::detail;
using fult::testing::expect_ends;
namespace this_task = fult::this_task;

class this_task_test : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, this_task_test, ::testing::Values(1u, 2u));

TEST_P(this_task_test, ids_are_unique_among_the_living) {
    std::set<fult::task_id> ids{this_task::id()};
    std::vector<fult::handle<fult::task_id>> all;
    std::atomic<bool> go{false};
    for (int i = 0; i < 100; ++i) {
        all.push_back(spawn([&] {
            while (!go.load())
                this_task::yield();
            return this_task::id();
        }));
        EXPECT_TRUE(ids.insert(all.back().id()).second);
    }
    go = true;
    for (auto &each : all) {
        const fult::task_id its_id = each.id();
        EXPECT_EQ(each.join(), its_id);
    }
}

TEST_P(this_task_test, an_inline_child_has_its_own_id) {
    const fult::task_id mine = this_task::id();
    auto child = spawn([] { return this_task::id(); });
    const fult::task_id its = child.id();
    EXPECT_EQ(child.join(), its);
    EXPECT_NE(its, mine);
    EXPECT_EQ(this_task::id(), mine);
}

TEST_P(this_task_test, names) {
    EXPECT_EQ(this_task::name(), "");
    std::string name = "a name that is longer than any small string";
    auto named = spawn({.name = name}, [] {
        this_task::yield();
        return std::string(this_task::name());
    });
    const std::string expected = std::exchange(name, "gone");
    EXPECT_EQ(named.join(), expected);
    EXPECT_EQ(spawn([] { return std::string(this_task::name()); }).join(), "")
        << "a slot's former name is gone";
}

// Of the initial thread, which becomes the main task. The C library leaves out the page of the environment.
TEST_P(this_task_test, the_stack_of_main_is_the_one_that_the_system_knows) {
    pthread_attr_t attributes;
    ASSERT_EQ(::pthread_getattr_np(::pthread_self(), &attributes), 0);
    void *low = nullptr;
    std::size_t size = 0;
    ::pthread_attr_getstack(&attributes, &low, &size);
    ::pthread_attr_destroy(&attributes);
    EXPECT_EQ(this_task::stack().low, low);
    EXPECT_GE(this_task::stack().size, size);
}

// A frame of the caller's is within the bounds that it gets.
bool runs_within(stack_bounds on) {
    const auto frame = detail::address_of(__builtin_frame_address(0)), low = detail::address_of(on.low);
    return low <= frame && frame < low + on.size && on.size >= 16 * 1024;
}
bool is_same(stack_bounds a, stack_bounds b) { return a.low == b.low && a.size == b.size; }

TEST_P(this_task_test, stack) {
    const stack_bounds of_main = this_task::stack();
    EXPECT_TRUE(runs_within(of_main));
    std::vector<fult::handle<stack_bounds>> tasks;
    for (int i = 0; i < 20; ++i)
        tasks.push_back(spawn({.stack_size = i % 2 == 0 ? 0u : 1u << 20}, [i] {
            const stack_bounds before = this_task::stack();
            EXPECT_TRUE(runs_within(before));
            EXPECT_TRUE(i % 2 == 0 || before.size >= (1u << 20));
            this_task::yield();
            EXPECT_TRUE(is_same(before, this_task::stack()));
            // inline, it has the stack of this task
            const auto of_child = spawn([] {
                                      EXPECT_TRUE(runs_within(this_task::stack()));
                                      return this_task::stack();
                                  }).join();
            EXPECT_GE(of_child.size, 16u * 1024);
            EXPECT_TRUE(is_same(before, this_task::stack()));
            return before;
        }));
    for (auto &each : tasks)
        EXPECT_GE(each.join().size, 16u * 1024);
    EXPECT_EQ(this_task::stack().low, of_main.low);
    stack_bounds none{};
    EXPECT_FALSE(detail::runs_on_own_stack(none)) << "the main task has its thread's";
    std::thread([&none] { EXPECT_FALSE(detail::runs_on_own_stack(none)); }).join();
    EXPECT_TRUE(spawn_pinned(0, [] {
                    stack_bounds own{};
                    return detail::runs_on_own_stack(own) && is_same(own, this_task::stack());
                }).join());
    EXPECT_EQ(spawn_pinned(GetParam() - 1,
                           [] {
                               EXPECT_TRUE(runs_within(this_task::stack()));
                               stack_bounds own{};
                               return detail::runs_on_own_stack(own);
                           })
                  .join(),
              GetParam() == 1)
        << "one worker's thread stack is the main task's, another one's a pinned task's";
}

TEST_P(this_task_test, in_task_and_worker) {
    EXPECT_TRUE(fult::in_task());
    EXPECT_EQ(this_task::worker(), 0);
    EXPECT_LT(spawn([] {
                  this_task::yield();
                  return this_task::worker();
              }).join(),
              GetParam());
    std::thread([] { EXPECT_FALSE(fult::in_task()); }).join();
}

TEST_P(this_task_test, yield_without_others_returns) {
    expect_ends([] {
        for (int i = 0; i < 1000; ++i)
            this_task::yield();
    });
}

TEST_P(this_task_test, yield_lets_others_of_this_worker_run) {
    bool ran = false;
    auto child = fult::spawn_pinned(0, [&] { ran = true; });
    this_task::yield();
    EXPECT_TRUE(ran);
    child.join();
}

// However many tasks keep yielding, an unstarted task is run, and so is one that yields while new ones are
// started.
TEST_P(this_task_test, no_task_starves) {
    std::atomic<bool> end{false};
    std::atomic<int> turns{0};
    std::vector<fult::handle<void>> yielders;
    for (int i = 0; i < 5; ++i)
        yielders.push_back(spawn([&] {
            while (!end.load())
                this_task::yield();
        }));
    auto old = spawn([&] {
        for (int i = 0; i < 10; ++i) {
            turns.fetch_add(1);
            this_task::yield();
        }
    });
    expect_ends([&] {
        while (turns.load() < 10) {
            spawn([] {}).detach(); // newer than `old` each time
            this_task::yield();
        }
    });
    end = true;
    old.join();
    join_all(yielders);
    EXPECT_EQ(turns.load(), 10);
}

TEST_P(this_task_test, a_chain_of_spawners_does_not_hide_an_old_task) {
    std::atomic<bool> old_ran{false};
    auto old = spawn([&] { old_ran = true; });
    std::atomic<int> links{1}; // of the chain that have not ended: they use what lies here
    std::function<void()> next = [&] {
        if (!old_ran.load()) {
            ++links;
            spawn(next).detach(); // always the newest
        }
        --links;
    };
    spawn(next).detach();
    expect_ends([&] {
        while (!old_ran.load() || links.load() != 0)
            this_task::yield();
    });
    old.join();
}

TEST_P(this_task_test, one_early_signal_is_kept) {
    signal(this_task::id());
    expect_ends([] { this_task::wait(); });
}

// A signal that comes before the task has started, or while it yields, may merge with its start: the
// condition, which is set before, shows it in any case.
TEST_P(this_task_test, early_signals_with_a_condition) {
    for (std::size_t i = 0; i < fult::testing::scaled(3000); ++i) {
        std::atomic<bool> go{false};
        auto child = spawn([&, yields = i % 3] {
            for (std::size_t n = 0; n < yields; ++n)
                this_task::yield();
            while (!go.load())
                this_task::wait();
            return 1;
        });
        if (i % 2)
            this_task::yield();
        go = true;
        signal(child.id());
        ASSERT_EQ(child.join(), 1);
    }
}

TEST_P(this_task_test, wait_until_a_condition) {
    std::atomic<int> stage{0};
    auto child = spawn([&] {
        this_task::wait([&] { return stage.load() == 1; });
        stage = 2;
        return this_task::id();
    });
    const fult::task_id id = child.id();
    this_task::yield();
    stage = 1;
    signal(id);
    child.join();
    EXPECT_EQ(stage.load(), 2);
    this_task::wait([] { return true; });
}

// A slot's next task must not be hurt by a signal that was meant for the one before.
TEST_P(this_task_test, a_stale_signal_is_only_spurious) {
    for (int i = 0; i < 1000; ++i) {
        auto first = spawn([] { this_task::yield(); });
        const fult::task_id id = first.id();
        first.join();
        signal(id);
        int times = 0;
        auto second = spawn([&] {
            ++times;
            this_task::yield();
            ++times;
        });
        second.join();
        ASSERT_EQ(times, 2);
    }
}

TEST_P(this_task_test, ping_pong) {
    const int rounds = static_cast<int>(fult::testing::scaled(20000));
    std::atomic<int> ball{0};
    const fult::task_id parent = this_task::id();
    auto child = spawn([&] {
        for (int i = 0; i < rounds; ++i) {
            while (ball.load() != 2 * i + 1)
                this_task::wait();
            ball = 2 * i + 2;
            signal(parent);
        }
    });
    const fult::task_id id = child.id();
    for (int i = 0; i < rounds; ++i) {
        ball = 2 * i + 1;
        signal(id);
        while (ball.load() != 2 * i + 2)
            this_task::wait();
    }
    child.join();
    EXPECT_EQ(ball.load(), 2 * rounds);
}

} // namespace
