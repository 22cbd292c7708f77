#include <gtest/gtest.h>
#include <sched.h>
#include <set>

#include "launcher/processors.hpp"

namespace fult::run {
namespace {

using shares = std::vector<std::vector<int>>;

// Two packages of two cores with two threads, sorted as allowed_processors() sorts.
const std::vector<processor> eight{{0, 0, 0}, {4, 0, 0}, {1, 0, 1}, {5, 0, 1},
                                   {2, 1, 0}, {6, 1, 0}, {3, 1, 1}, {7, 1, 1}};

TEST(share_out, keeps_siblings_together_while_there_are_cores) {
    EXPECT_EQ(share_out(eight, 1), (shares{{0, 4, 1, 5, 2, 6, 3, 7}}));
    EXPECT_EQ(share_out(eight, 2), (shares{{0, 4, 1, 5}, {2, 6, 3, 7}}));
    EXPECT_EQ(share_out(eight, 3), (shares{{0, 4}, {1, 5}, {2, 6, 3, 7}}));
    EXPECT_EQ(share_out(eight, 4), (shares{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(share_out, divides_cores_when_there_are_too_few) {
    EXPECT_EQ(share_out(eight, 8), (shares{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}));
    EXPECT_EQ(share_out(eight, 5).size(), 5u);
}

TEST(share_out, gives_nothing_when_there_are_more_ranks_than_processors) {
    EXPECT_TRUE(share_out(eight, 9).empty());
    EXPECT_TRUE(share_out({}, 1).empty());
}

TEST(share_out, is_even_and_complete) {
    for (int count = 1; count <= 40; ++count) {
        std::vector<processor> all;
        for (int n = 0; n < count; ++n)
            all.push_back({n, 0, n});
        for (int ranks = 1; ranks <= count; ++ranks) {
            const shares parts = share_out(all, ranks);
            ASSERT_EQ(parts.size(), static_cast<std::size_t>(ranks));
            int next = 0;
            for (const auto &part : parts) {
                EXPECT_GE(static_cast<int>(part.size()), count / ranks);
                EXPECT_LE(static_cast<int>(part.size()), (count + ranks - 1) / ranks);
                for (const int each : part)
                    EXPECT_EQ(each, next++);
            }
            EXPECT_EQ(next, count);
        }
    }
}

TEST(allowed_processors, are_those_of_the_mask) {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    std::set<int> found;
    for (const processor &each : allowed_processors()) {
        EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(each.number), &set)) << each.number;
        EXPECT_TRUE(found.insert(each.number).second) << each.number;
    }
    EXPECT_EQ(static_cast<int>(found.size()), CPU_COUNT(&set));
}

} // namespace
} // namespace fult::run
