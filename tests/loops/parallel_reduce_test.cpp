#include <atomic>
#include <cmath>
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

// Numbers whose sum depends on the grouping.
std::vector<double> rough_numbers(std::size_t n) {
    auto random = fult::testing::seeded(11);
    std::uniform_real_distribution<double> exponent(-20, 20);
    std::vector<double> v(n);
    for (double &x : v)
        x = std::exp2(exponent(random)) * (random() % 2 ? 1 : -1);
    return v;
}

constexpr schedule schedules[] = {schedule::lazy, schedule::guided, schedule::fixed};

TEST(parallel_reduce, equals_the_serial_sum) {
    std::vector<long> v(fult::testing::scaled(60'000));
    std::iota(v.begin(), v.end(), -1000);
    const long expected = std::accumulate(v.begin(), v.end(), 0L);
    for (const unsigned workers : {1u, 2u, 8u}) {
        runtime rt(fult::testing::workers(workers));
        for (const schedule how : schedules)
            for (const bool ordered : {false, true})
                for (const std::ptrdiff_t grain : {0, 1, 1000}) {
                    const loop_options o{.schedule = how, .grain = grain, .ordered = ordered};
                    EXPECT_EQ(parallel_reduce(v.begin(), v.end(), 0L, std::identity(), std::plus<>(), o),
                              expected);
                    EXPECT_EQ(parallel_reduce(
                                  std::size_t{0}, v.size(), 0L, [&](std::size_t i) { return v[i]; },
                                  std::plus<>(), o),
                              expected);
                }
    }
}

// Associative, not commutative.
TEST(parallel_reduce, keeps_the_order_of_the_range) {
    std::string expected;
    for (int i = 0; i < 2000; ++i)
        expected += std::to_string(i) + ' ';
    for (const unsigned workers : {1u, 2u, 8u}) {
        runtime rt(fult::testing::workers(workers));
        for (const schedule how : schedules)
            for (const bool ordered : {false, true})
                EXPECT_EQ(parallel_reduce(
                              0, 2000, std::string(),
                              [](int i) {
                                  if (i % 100 == 0)
                                      this_task::yield();
                                  return std::to_string(i) + ' ';
                              },
                              [](std::string a, const std::string &b) { return std::move(a) += b; },
                              {.schedule = how, .ordered = ordered}),
                          expected);
    }
}

TEST(parallel_reduce, ordered_is_the_same_to_the_last_bit) {
    const std::vector<double> v = rough_numbers(fult::testing::scaled(200'000) + 7);
    for (const std::ptrdiff_t grain : {0, 100}) {
        std::vector<double> sums;
        for (const unsigned workers : {1u, 2u, 8u}) {
            runtime rt(fult::testing::workers(workers));
            for (const schedule how : schedules)
                for (int repeat = 0; repeat < 5; ++repeat)
                    sums.push_back(parallel_reduce(v.begin(), v.end(), 0.0, std::identity(), std::plus<>(),
                                                   {.schedule = how, .grain = grain, .ordered = true}));
        }
        for (const double each : sums)
            ASSERT_EQ(each, sums[0]);
    }
    // and the test would detect it: another grouping, another sum
    runtime rt(fult::testing::workers(1));
    const auto sum = [&](std::ptrdiff_t grain) {
        return parallel_reduce(v.begin(), v.end(), 0.0, std::identity(), std::plus<>(),
                               {.grain = grain, .ordered = true});
    };
    EXPECT_NE(sum(100), sum(37));
}

TEST(parallel_reduce, an_empty_range_is_the_identity) {
    EXPECT_EQ(parallel_reduce(3, 3, 42, std::identity(), std::plus<>()), 42); // also without a runtime
}

TEST(parallel_reduce, exceptions_come_out) {
    for (const unsigned workers : {1u, 2u, 8u}) {
        runtime rt(fult::testing::workers(workers));
        for (const schedule how : schedules)
            for (const bool ordered : {false, true}) {
                const loop_options o{.schedule = how, .ordered = ordered};
                EXPECT_THROW((void)parallel_reduce(
                                 0, 10'000, 0,
                                 [](int i) {
                                     if (i == 7777)
                                         throw std::runtime_error("map");
                                     return i;
                                 },
                                 std::plus<>(), o),
                             std::runtime_error);
                EXPECT_THROW((void)parallel_reduce(
                                 0, 10'000, 0, std::identity(),
                                 [](int, int b) {
                                     if (b == 5000)
                                         throw std::runtime_error("combine");
                                     return b;
                                 },
                                 o),
                             std::runtime_error);
            }
    }
}

TEST(parallel_reduce, bad_input_is_named) {
    try {
        (void)parallel_reduce(0, 3, 0, std::identity(), std::plus<>(), {.grain = -5});
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::invalid_argument &error) {
        EXPECT_NE(std::string(error.what()).find("parallel_reduce: the grain is -5"), std::string::npos);
    }
    EXPECT_THROW((void)parallel_reduce(3, 0, 0, std::identity(), std::plus<>()), std::invalid_argument);
    EXPECT_THROW((void)parallel_reduce(0, 3, 0, std::identity(), std::plus<>()),
                 std::logic_error); // no runtime
}

TEST(parallel_reduce, a_foreign_thread_may_call) {
    runtime rt(fult::testing::workers(2));
    std::atomic<int> sum{0};
    std::thread outside([&] { sum = parallel_reduce(0, 100, 0, std::identity(), std::plus<>()); });
    while (sum == 0)
        this_task::yield();
    outside.join();
    EXPECT_EQ(sum, 4950);
}

} // namespace
