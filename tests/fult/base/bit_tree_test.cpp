#include <gtest/gtest.h>
#include <set>

#include "fult/base/bit_tree.hpp"
#include "tests/support/support.hpp"

namespace {

constexpr std::uint32_t capacity = 64 * 4096;
using tested_tree = fult::detail::bit_tree<capacity>;

TEST(bit_tree, is_empty_at_first) {
    tested_tree t;
    EXPECT_EQ(t.lowest(), tested_tree::none);
    EXPECT_EQ(t.highest(), tested_tree::none);
    EXPECT_FALSE(t.holds_only(0));
    EXPECT_EQ(t.at_least(0), tested_tree::none);
    EXPECT_EQ(t.at_most(capacity - 1), tested_tree::none);
}

TEST(bit_tree, finds_members_at_the_borders_of_every_level) {
    for (const std::uint32_t i :
         {0u, 1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, capacity - 65, capacity - 64, capacity - 1}) {
        tested_tree t;
        t.insert(i);
        const int member = static_cast<int>(i);
        EXPECT_TRUE(t.contains(i));
        EXPECT_EQ(t.lowest(), member);
        EXPECT_EQ(t.highest(), member);
        EXPECT_EQ(t.at_least(0), member);
        EXPECT_EQ(t.at_least(i), member);
        EXPECT_EQ(t.at_least(i + 1), tested_tree::none);
        EXPECT_EQ(t.at_most(capacity - 1), member);
        EXPECT_EQ(t.at_most(i), member);
        if (i > 0) {
            EXPECT_EQ(t.at_most(i - 1), tested_tree::none);
        }
        EXPECT_TRUE(t.holds_only(i));
        EXPECT_FALSE(t.holds_only(i == 0 ? 1 : i - 1));
        t.erase(i);
        EXPECT_FALSE(t.contains(i));
        EXPECT_EQ(t.highest(), tested_tree::none);
    }
}

TEST(bit_tree, holds_only_its_only_member) {
    tested_tree t;
    t.erase(5);
    t.insert(5);
    t.insert(5);
    EXPECT_TRUE(t.holds_only(5));
    t.insert(6);
    EXPECT_FALSE(t.holds_only(5));
    t.erase(5);
    t.erase(5);
    EXPECT_TRUE(t.holds_only(6));
    t.insert(capacity - 1);
    t.erase(6);
    EXPECT_FALSE(t.holds_only(6));
    EXPECT_TRUE(t.holds_only(capacity - 1));
}

TEST(bit_tree, agrees_with_an_ordered_set) {
    auto random = fult::testing::seeded(20180901);
    tested_tree t;
    std::set<std::uint32_t> model;
    for (std::size_t round = 0; round < fult::testing::scaled(200000); ++round) {
        // numbers of all magnitudes, so that some share a word
        const auto i = static_cast<std::uint32_t>(random() % (std::uint64_t{1} << (1 + random() % 18)));
        if (random() % 2) {
            t.insert(i);
            model.insert(i);
        } else {
            t.erase(i);
            model.erase(i);
        }
        const auto probe = static_cast<std::uint32_t>(random() % capacity);
        const auto above = model.lower_bound(probe);
        ASSERT_EQ(t.at_least(probe), above == model.end() ? tested_tree::none : static_cast<int>(*above));
        auto below = model.upper_bound(probe);
        ASSERT_EQ(t.at_most(probe),
                  below == model.begin() ? tested_tree::none : static_cast<int>(*std::prev(below)));
        ASSERT_EQ(t.holds_only(i), model.size() == 1 && model.count(i) != 0);
        ASSERT_EQ(t.lowest(), model.empty() ? tested_tree::none : static_cast<int>(*model.begin()));
        ASSERT_EQ(t.highest(), model.empty() ? tested_tree::none : static_cast<int>(*model.rbegin()));
        ASSERT_EQ(t.contains(probe), model.count(probe) != 0);
    }
}

} // namespace
