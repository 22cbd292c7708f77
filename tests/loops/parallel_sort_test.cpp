#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/loops.hpp>

#include "tests/support/support.hpp"

namespace {
using namespace fult;
using fult::testing::scaled;

std::vector<std::pair<const char *, std::vector<int>>> inputs(std::size_t n) {
    auto random = fult::testing::seeded(5);
    std::vector<int> any(n), few(n), up(n), down(n), same(n, 3), pipe(n);
    for (std::size_t i = 0; i < n; ++i) {
        any[i] = static_cast<int>(random());
        few[i] = static_cast<int>(random() % 7);
        up[i] = static_cast<int>(i);
        down[i] = static_cast<int>(n - i);
        pipe[i] = static_cast<int>(std::min(i, n - i));
    }
    return {{"random", any},    {"few values", few}, {"sorted", up},
            {"reversed", down}, {"equal", same},     {"pipe", pipe}};
}

TEST(parallel_sort, as_the_standard_does) {
    for (const unsigned workers : {1u, 2u, 8u}) {
        runtime rt(fult::testing::workers(workers));
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000},
                                    std::size_t{1025}, std::size_t{5000}, scaled(30'000)})
            for (const auto &[name, input] : inputs(n)) {
                std::vector<int> mine = input, theirs = input;
                parallel_sort(mine.begin(), mine.end());
                std::sort(theirs.begin(), theirs.end());
                ASSERT_EQ(mine, theirs) << name << ", " << n << " elements, " << workers << " workers";
                parallel_sort(mine.begin(), mine.end(), std::greater<>());
                ASSERT_TRUE(std::is_sorted(mine.rbegin(), mine.rend())) << name;
            }
    }
}

TEST(parallel_sort, elements_that_only_move) {
    runtime rt(fult::testing::workers(2));
    auto random = fult::testing::seeded(6);
    std::deque<std::unique_ptr<unsigned>> v(20'000);
    for (auto &each : v)
        each = std::make_unique<unsigned>(static_cast<unsigned>(random()));
    parallel_sort(v.begin(), v.end(), [](const auto &a, const auto &b) { return *a < *b; });
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [](const auto &a, const auto &b) { return *a < *b; }));
}

TEST(parallel_sort, strings_that_yield_in_their_comparison) {
    runtime rt(fult::testing::workers(2));
    auto random = fult::testing::seeded(7);
    std::vector<std::string> v(scaled(20'000) + 3000);
    for (auto &each : v)
        each = std::to_string(random() % 10'000) + " and so on, longer than what lies in place";
    std::vector<std::string> expected = v;
    std::sort(expected.begin(), expected.end());
    std::atomic<unsigned> count{0};
    parallel_sort(v.begin(), v.end(), [&](const std::string &a, const std::string &b) {
        if (++count % 64 == 0)
            this_task::yield();
        return a < b;
    });
    EXPECT_EQ(v, expected);
}

// The adversary of M. D. McIlroy (1999): values are decided while they are compared, so that each pivot is
// bad.
class adversary {
  public:
    explicit adversary(std::size_t n) : values_(n, gas) {}
    bool less(int a, int b) {
        ++comparisons;
        int &x = values_[static_cast<std::size_t>(a)], &y = values_[static_cast<std::size_t>(b)];
        if (x == gas && y == gas)
            (a == candidate_ ? x : y) = solid_++;
        if (x == gas)
            candidate_ = a;
        else if (y == gas)
            candidate_ = b;
        return x < y;
    }
    std::size_t comparisons = 0;

  private:
    static constexpr int gas = 1 << 30;
    std::vector<int> values_;
    int candidate_ = 0, solid_ = 0;
};

TEST(parallel_sort, no_input_makes_it_quadratic) {
    runtime rt(fult::testing::workers(1)); // the adversary is one
    const std::size_t n = scaled(100'000) + 10'000;
    adversary against(n);
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), 0);
    parallel_sort(v.begin(), v.end(), [&](int a, int b) { return against.less(a, b); });
    const double n_log_n = static_cast<double>(n) * std::log2(static_cast<double>(n));
    EXPECT_LT(static_cast<double>(against.comparisons), 8 * n_log_n);
}

TEST(parallel_sort, exceptions_come_out) {
    for (const unsigned workers : {1u, 2u}) {
        runtime rt(fult::testing::workers(workers));
        std::vector<int> v(50'000);
        std::iota(v.rbegin(), v.rend(), 0);
        std::atomic<int> left{100'000};
        EXPECT_THROW(parallel_sort(v.begin(), v.end(),
                                   [&](int a, int b) {
                                       if (--left == 0)
                                           throw std::runtime_error("compare");
                                       return a < b;
                                   }),
                     std::runtime_error);
    }
}

TEST(parallel_sort, foreign_threads_no_runtime_and_reversed_ranges) {
    std::vector<int> v{3, 1, 2};
    EXPECT_THROW(parallel_sort(v.begin(), v.end()), std::logic_error);
    EXPECT_THROW(parallel_sort(v.end(), v.begin()), std::invalid_argument);
    runtime rt(fult::testing::workers(2));
    std::atomic<bool> over{false};
    std::thread outside([&] {
        parallel_sort(v.begin(), v.end());
        over = true;
    });
    while (!over)
        this_task::yield();
    outside.join();
    EXPECT_EQ(v, (std::vector<int>{1, 2, 3}));
}

// Two workers sort: a comparison of each waits for the other's once.
TEST(parallel_sort, is_shared) {
    runtime rt(fult::testing::workers(2));
    std::vector<int> v(200'000);
    auto random = fult::testing::seeded(8);
    for (int &x : v)
        x = static_cast<int>(random());
    std::atomic<bool> seen[2] = {false, false};
    for (int tries = 0; tries < 1000 && !(seen[0] && seen[1]); ++tries) { // a worker may be slow to come
        std::vector<int> copy = v;
        parallel_sort(copy.begin(), copy.end(), [&](int a, int b) {
            seen[this_task::worker()].store(true, std::memory_order_relaxed);
            return a < b;
        });
    }
    EXPECT_TRUE(seen[0] && seen[1]);
}

} // namespace
