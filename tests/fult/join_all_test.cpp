#include <atomic>
#include <gtest/gtest.h>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

class join_all_test : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, join_all_test, ::testing::Values(1u, 2u));

TEST_P(join_all_test, a_range) {
    std::atomic<int> sum{0};
    std::vector<handle<void>> all;
    for (int i = 0; i < 200; ++i)
        all.push_back(spawn([&, i] {
            if (i % 3 == 0)
                this_task::yield();
            sum.fetch_add(i);
        }));
    join_all(all);
    EXPECT_EQ(sum.load(), 199 * 200 / 2);
    for (const auto &each : all)
        EXPECT_FALSE(each.valid());
}

TEST_P(join_all_test, other_ranges_and_results) {
    std::list<handle<int>> all;
    all.push_back(spawn([] { return 1; }));
    all.emplace_back();
    all.push_back(spawn([] { return 2; }));
    fult::wait_all(all);
    int sum = 0;
    for (auto &each : all)
        if (each.valid()) {
            EXPECT_TRUE(each.done());
            sum += each.join();
        }
    EXPECT_EQ(sum, 3);
    std::vector<handle<void>> none;
    join_all(none);
    fult::wait_all(none);
}

TEST_P(join_all_test, handles_of_any_types) {
    int n = 0;
    auto a = spawn([&] { n = 1; });
    auto b = spawn([] {
        this_task::yield();
        return std::string("b");
    });
    handle<int> c = spawn([] { return 7; });
    handle<int> empty;
    wait_all(a, b, c, empty);
    EXPECT_TRUE(a.done() && b.done() && c.done());
    EXPECT_EQ(b.join(), "b");
    const auto [nothing, number] = join_all(a, c);
    EXPECT_EQ(number, 7);
    EXPECT_EQ(n, 1);
    EXPECT_FALSE(a.valid() || c.valid());
}

TEST_P(join_all_test, a_handle_is_waited_for_and_keeps_its_task) {
    handle<int> one = spawn([] {
        this_task::yield();
        return 3;
    });
    one.wait();
    EXPECT_TRUE(one.done());
    one.wait();
    EXPECT_EQ(one.join(), 3);
    one.wait(); // an empty one
}

TEST_P(join_all_test, all_are_joined_though_some_throw_and_the_first_is_rethrown) {
    for (const bool suspend : {false, true}) {
        std::atomic<int> ran{0};
        std::vector<handle<void>> all;
        for (int i = 0; i < 50; ++i)
            all.push_back(spawn([&, i] {
                if (suspend)
                    this_task::yield();
                ran.fetch_add(1);
                if (i == 20 || i == 40)
                    throw std::runtime_error(std::to_string(i));
            }));
        try {
            join_all(all);
            ADD_FAILURE();
        } catch (const std::runtime_error &error) {
            EXPECT_STREQ(error.what(), "20");
        }
        EXPECT_EQ(ran.load(), 50);
        for (const auto &each : all)
            EXPECT_FALSE(each.valid());
    }
    auto good = spawn([] {});
    auto bad = spawn([] { throw 3; });
    EXPECT_THROW(join_all(bad, good), int);
    EXPECT_FALSE(good.valid());
}

TEST_P(join_all_test, returns_once_all_have_ended) {
    constexpr int children = 40;
    std::atomic<int> blocked{0}, ended{0};
    std::atomic<bool> go{false};
    std::vector<handle<void>> all;
    std::vector<fult::task_id> ids(children);
    for (int i = 0; i < children; ++i)
        all.push_back(spawn([&, i] {
            ids[static_cast<std::size_t>(i)] = this_task::id();
            blocked.fetch_add(1);
            while (!go.load())
                this_task::wait();
            ended.fetch_add(1);
        }));
    auto waker = spawn([&] {
        while (blocked.load() != children)
            this_task::yield();
        go = true;
        for (const fult::task_id id : ids)
            signal(id);
    });
    join_all(all);
    EXPECT_EQ(ended.load(), children);
    waker.join();
}

// Signals for the waiter that have nothing to do with its children.
TEST_P(join_all_test, other_signals_do_not_end_it) {
    const fult::task_id me = this_task::id();
    std::atomic<bool> go{false};
    std::atomic<int> ended{0};
    std::vector<handle<void>> all;
    for (int i = 0; i < 8; ++i)
        all.push_back(spawn([&] {
            while (!go.load())
                this_task::yield();
            ended.fetch_add(1);
        }));
    auto noise = spawn([&] {
        for (int i = 0; i < 100; ++i) {
            signal(me);
            this_task::yield();
        }
        go = true;
    });
    this_task::yield();
    join_all(all);
    EXPECT_EQ(ended.load(), 8);
    noise.join();
}

TEST_P(join_all_test, from_a_foreign_thread) {
    std::atomic<bool> over{false};
    std::thread foreign([&] {
        std::vector<handle<int>> all;
        for (int i = 0; i < 100; ++i)
            all.push_back(spawn([i] {
                this_task::yield();
                return i;
            }));
        fult::wait_all(all);
        int sum = 0;
        for (auto &each : all)
            sum += each.join();
        EXPECT_EQ(sum, 4950);
        auto a = spawn([] { this_task::yield(); });
        auto b = spawn([] { return 1; });
        join_all(a, b);
        over = true;
    });
    while (!over.load()) // the only worker may be this one
        this_task::yield();
    foreign.join();
}

} // namespace
