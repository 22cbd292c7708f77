#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

class join_test : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, join_test, ::testing::Values(1u, 2u));

TEST_P(join_test, all_of_several_types) {
    int n = 0;
    auto a = spawn([] { return 1; });
    handle<std::string> b = spawn([] {
        this_task::yield();
        return std::string("b");
    });
    auto c = spawn([&] { n = 3; });
    auto d = spawn([&]() -> int & { return n; });
    auto [one, text, nothing, reference] = fult::join_all(a, b, c, d);
    EXPECT_EQ(one, 1);
    EXPECT_EQ(text, "b");
    (void)nothing;
    EXPECT_EQ(&reference, &n);
    EXPECT_EQ(n, 3);
    EXPECT_FALSE(a.valid() || b.valid() || c.valid() || d.valid());
}

TEST_P(join_test, all_of_a_range) {
    std::vector<handle<std::unique_ptr<int>>> all;
    for (int i = 0; i < 50; ++i)
        all.push_back(spawn([i] {
            if (i % 2)
                this_task::yield();
            return std::make_unique<int>(i);
        }));
    auto results = fult::join_all(all);
    ASSERT_EQ(results.size(), 50u);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(*results[std::size_t(i)], i);
    std::vector<handle<void>> plain;
    plain.push_back(spawn([] {}));
    fult::join_all(plain);
}

TEST_P(join_test, all_are_joined_where_one_throws) {
    auto a = spawn([] { return 1; });
    auto b = spawn([]() -> int { throw std::runtime_error("b"); });
    auto c = spawn([] { return 3; });
    EXPECT_THROW(fult::join_all(a, b, c), std::runtime_error);
    EXPECT_FALSE(a.valid() || b.valid() || c.valid());
    std::vector<handle<int>> all;
    all.push_back(spawn([]() -> int { throw std::logic_error("first"); }));
    all.push_back(spawn([]() -> int { throw std::runtime_error("second"); }));
    EXPECT_THROW(fult::join_all(all), std::logic_error);
    EXPECT_FALSE(all[1].valid());
}

TEST_P(join_test, any_returns_which_and_keeps_the_others) {
    fult::event go;
    auto late = spawn([&] {
        go.wait();
        return 1;
    });
    auto early = spawn([] {
        this_task::yield();
        return std::string("early");
    });
    handle<void> none;
    ASSERT_EQ(fult::wait_any(late, none, early), 2u);
    EXPECT_EQ(early.join(), "early");
    EXPECT_FALSE(late.done());
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(fult::wait_any(stop.get_token(), late), 1u);
    go.set();
    EXPECT_EQ(fult::wait_any(late, early), 0u);
    EXPECT_EQ(fult::wait_any(std::stop_token(), late), 0u);
    EXPECT_EQ(late.join(), 1);
    EXPECT_EQ(fult::wait_any(late, early), 2u);
}

TEST_P(join_test, any_accepts_a_handle_twice) {
    fult::event go;
    auto one = spawn([&] {
        go.wait();
        return 1;
    });
    auto other = spawn([&] { go.set(); });
    const std::size_t which = fult::wait_any(one, other, one);
    EXPECT_TRUE(which == 0 || which == 1) << which;
    other.join();
    EXPECT_EQ(fult::wait_any(one, one), 0u);
    EXPECT_EQ(one.join(), 1);
}

TEST_P(join_test, all_of_tasks_without_results_rethrows_the_first_exception) {
    std::vector<fult::handle<void>> tasks;
    std::atomic<int> ended{0};
    for (int i = 0; i < 4; ++i)
        tasks.push_back(spawn([&ended, i] {
            ++ended;
            if (i % 2)
                throw std::runtime_error(std::to_string(i));
        }));
    try {
        fult::join_all(tasks);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "1");
    }
    EXPECT_EQ(ended.load(), 4);
}

TEST_P(join_test, any_of_a_range_one_after_the_other) {
    const int count = 30;
    std::vector<handle<int>> all;
    for (int i = 0; i < count; ++i)
        all.push_back(spawn([i] {
            for (int k = 0; k < i % 7; ++k)
                this_task::yield();
            return i;
        }));
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        const std::size_t which = fult::wait_any(all);
        ASSERT_LT(which, all.size());
        ASSERT_TRUE(all[which].done());
        sum += all[which].join();
    }
    EXPECT_EQ(sum, count * (count - 1) / 2);
    EXPECT_EQ(fult::wait_any(all), all.size());
}

TEST_P(join_test, a_stop_request_ends_it) {
    fult::event never;
    auto one = spawn([&] { never.wait(); });
    std::stop_source stop;
    auto waiter = spawn([&] { return fult::wait_any(stop.get_token(), one); });
    for (int i = 0; i < 5; ++i)
        this_task::yield();
    stop.request_stop();
    EXPECT_EQ(waiter.join(), 1u);
    never.set();
    one.join();
}

TEST_P(join_test, from_a_foreign_thread) {
    fult::event go;
    fult::latch ended(1);
    std::thread outside([&] {
        std::vector<handle<int>> all;
        all.push_back(spawn([&] {
            go.wait();
            return 1;
        }));
        all.push_back(spawn([] { return 2; }));
        EXPECT_EQ(fult::wait_any(all), 1u);
        go.set();
        EXPECT_EQ(fult::join_all(all), (std::vector<int>{1, 2}));
        ended.count_down();
    });
    ended.wait(); // not by a blocked worker: it may be the only one
    outside.join();
}

// The same tasks are waited for again and again while they end.
TEST_P(join_test, stress) {
    const std::size_t rounds = fult::testing::scaled(3000) + 10;
    for (std::size_t round = 0; round < rounds; ++round) {
        std::atomic<int> turn{0};
        std::vector<handle<void>> all;
        for (int i = 0; i < 6; ++i)
            all.push_back(spawn([&turn, i, round] {
                if ((round + std::size_t(i)) % 3 == 0)
                    this_task::yield();
                ++turn;
            }));
        std::stop_source stop;
        auto stopper = spawn([&] { stop.request_stop(); });
        std::size_t left = all.size();
        while (left > 0) {
            const std::size_t which = round % 2 ? fult::wait_any(all) : fult::wait_any(stop.get_token(), all);
            if (which == all.size()) {
                this_task::yield();
                continue;
            }
            all[which].join();
            --left;
        }
        ASSERT_EQ(turn, 6);
        stopper.join();
    }
}

} // namespace
