// The arithmetic of streams.
#include <gtest/gtest.h>
#include <numeric>

#include "apps/dt/features.hpp"

namespace dt {
namespace {

TEST(WrappedPower, IsThePowerWhereNothingOverflows) {
    EXPECT_EQ(wrapped_power(2, 0, 421), 1);
    EXPECT_EQ(wrapped_power(2, 1, 421), 2);
    EXPECT_EQ(wrapped_power(2, 10, 421), 1024 % 421);
    EXPECT_EQ(wrapped_power(5, 7, 3527), 78125 % 3527);
    EXPECT_EQ(wrapped_power(2, 420, 421), 1); // Fermat
    EXPECT_EQ(wrapped_power(5, 3526, 3527), 1);
}

TEST(WrappedPower, KeepsTheSignOfAWrappedProduct) {
    // 50000^2 = 2500000000 wraps to -1794967296, which is -296 modulo 1000 and 0 modulo 256.
    EXPECT_EQ(wrapped_power(50000, 2, 1000), -296);
    EXPECT_EQ(wrapped_power(50000, 2, 256), 0);
}

TEST(Sources, SendAboutAsManySamplesAsTheClassHas) {
    for (const char name : {'S', 'W', 'A', 'B'}) {
        const problem given = find_problem(name).value();
        for (int source = 0; source < given.width; ++source) {
            const auto count = std::int64_t(sample_count(given, source));
            EXPECT_GE(count, given.samples - given.deviation);
            EXPECT_LT(count, given.samples + given.deviation);
        }
    }
}

TEST(Sources, SendPositiveNumbersBelowTheirPrimes) {
    const problem given = find_problem('S').value();
    const features made = random_features(given, 3);
    ASSERT_EQ(made.size(), sample_count(given, 3) * fields);
    const double primes[fields] = {421, 419, 1427, 3527};
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_GT(made[i], 0);
        EXPECT_LT(made[i], primes[i % fields]);
    }
    EXPECT_NE(random_features(given, 2), made);
}

TEST(Resampled, SpreadsEachNumberOverTwo) {
    // Inner numbers are halved and added to their own place and the one before; the ends are kept.
    EXPECT_EQ(resampled({2, 4, 6, 8}, 4), (features{2, 5, 3, 8}));
    EXPECT_EQ(resampled({2, 4, 6, 8}, 6), (features{2, 5, 3, 0, 0, 8}));
}

TEST(Resampled, KeepsTheSumOfNumbers) {
    features stream(40);
    std::iota(stream.begin(), stream.end(), 1.0);
    const features longer = resampled(stream, 120);
    ASSERT_EQ(longer.size(), 120u);
    EXPECT_EQ(longer.front(), 1);
    EXPECT_EQ(longer.back(), 40);
    EXPECT_NEAR(std::accumulate(longer.begin(), longer.end(), 0.0), 820, 1e-9);
}

TEST(Filter, TakesTheNearestOfThreeSamples) {
    // Three samples; only the middle one is replaced. The weight of node 0 is 1/2.
    features kept{0, 0, 0, 0, 10, 10, 10, 10, 0, 0, 0, 0};
    filter(kept, {9, 9, 9, 9, 12, 12, 12, 12, 8, 8, 8, 8}, 0);
    EXPECT_EQ(kept, (features{0, 0, 0, 0, 6, 6, 6, 6, 0, 0, 0, 0})); // its own: distance 16
    kept = {9, 9, 9, 8, 10, 10, 10, 10, 0, 0, 0, 0};
    filter(kept, {9, 9, 9, 9, 12, 12, 12, 12, 8, 8, 8, 8}, 0);
    EXPECT_EQ(kept[4], 4.5); // the one before: distance 1
    kept = {0, 0, 0, 0, 10, 10, 10, 10, 8, 8, 8, 9};
    filter(kept, {9, 9, 9, 9, 12, 12, 12, 12, 8, 8, 8, 8}, 2);
    EXPECT_EQ(kept[4], 0.75 * 8); // the one behind, with the weight of node 2
}

TEST(Filter, ResamplesTheShorter) {
    features kept(12, 1.0);
    filter(kept, features(16, 1.0), 0);
    EXPECT_EQ(kept.size(), 16u);
    filter(kept, features(12, 1.0), 0);
    EXPECT_EQ(kept.size(), 16u);
}

TEST(Average, Truncates) {
    features kept{7.9, 8, 11.5, 0.5};
    average(kept, 4);
    EXPECT_EQ(kept, (features{1, 2, 2, 0}));
}

TEST(MeanSquare, IsTheMean) { EXPECT_DOUBLE_EQ(mean_square({1, 2, 3, 4}), 7.5); }

} // namespace
} // namespace dt
