#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "fult/base/random.hpp"

namespace {

using fult::detail::random_source;

TEST(random_source, stays_below_its_bound_and_reaches_all) {
    for (const std::uint32_t bound : {1u, 2u, 7u, 64u}) {
        random_source r(bound);
        std::vector<unsigned> hits(bound);
        for (unsigned i = 0; i < 1000 * bound; ++i) {
            const std::uint32_t n = r.below(bound);
            ASSERT_LT(n, bound);
            ++hits[n];
        }
        EXPECT_GT(*std::min_element(hits.begin(), hits.end()), 800u) << "bound " << bound;
    }
}

TEST(random_source, seeds_differ) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        random_source a(seed), b(seed + 1);
        unsigned same = 0;
        for (int i = 0; i < 64; ++i)
            same += a.below(1u << 16) == b.below(1u << 16) ? 1 : 0;
        EXPECT_LT(same, 8u);
    }
}

} // namespace
