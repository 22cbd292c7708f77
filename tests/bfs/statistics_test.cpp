#include <cmath>
#include <gtest/gtest.h>

#include "apps/bfs/statistics.hpp"

namespace bfs {
namespace {

TEST(Statistics, DescribeValuesInAnyOrder) {
    const statistics found = describe({4, 1, 5, 3, 2});
    EXPECT_EQ(found.minimum, 1);
    EXPECT_EQ(found.first_quartile, 2);
    EXPECT_EQ(found.median, 3);
    EXPECT_EQ(found.third_quartile, 4);
    EXPECT_EQ(found.maximum, 5);
    EXPECT_EQ(found.mean, 3);
    EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(2.5));
}

TEST(Statistics, InterpolateQuartiles) {
    const statistics found = describe({10, 20, 30, 40});
    EXPECT_DOUBLE_EQ(found.first_quartile, 17.5);
    EXPECT_DOUBLE_EQ(found.median, 25);
    EXPECT_DOUBLE_EQ(found.third_quartile, 32.5);
}

TEST(Statistics, HaveNoDeviationForOneValue) {
    for (const statistics &found : {describe({7}), describe_rates({7})}) {
        EXPECT_EQ(found.minimum, 7);
        EXPECT_EQ(found.third_quartile, 7);
        EXPECT_DOUBLE_EQ(found.mean, 7);
        EXPECT_EQ(found.deviation, 0);
    }
}

TEST(Statistics, HaveHarmonicMeansOfRates) {
    const statistics found = describe_rates({1, 2, 4});
    EXPECT_EQ(found.median, 2);
    EXPECT_DOUBLE_EQ(found.mean, 12.0 / 7);
    // The inverses 1, 1/2, 1/4 differ from 7/12 by 5/12, 1/12, 4/12.
    EXPECT_DOUBLE_EQ(found.deviation, std::sqrt(42.0) / 12 / 2 * (144.0 / 49));
}

} // namespace
} // namespace bfs
