// The tree: what its cells contain, and in which order.
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "apps/barnes_hut/plummer.hpp"
#include "apps/barnes_hut/tree.hpp"
#include "apps/barnes_hut/walk.hpp"

namespace barnes_hut {
namespace {

constexpr cube whole_space{{-50, -50, -50}, 100};

std::vector<point> plummer_points(std::uint64_t count) {
    std::vector<point> all;
    for (std::uint64_t i = 0; i < count; ++i) {
        all.push_back(plummer_body(i, count, 1).here);
        all.back().mass *= double(1 + i % 3); // not all the same
    }
    return all;
}

void expect_cell(const tree &of, const cell &in) {
    point sum;
    box extent;
    for (std::uint32_t i = in.first_point; i < in.first_point + in.points; ++i) {
        const point &each = of.points[i];
        extent.include(each.at);
        sum.mass += each.mass;
        for (std::size_t k = 0; k < 3; ++k)
            sum.at[k] += each.mass * each.at[k];
    }
    EXPECT_NEAR(in.all.mass, sum.mass, 1e-12);
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(in.all.at[k], sum.at[k] / sum.mass, 1e-12);
        EXPECT_LE(extent.high[k] - extent.low[k], in.side);
    }
    if (in.children == 0) {
        EXPECT_LE(in.points, most_in_leaf);
        EXPECT_GT(in.points, 0u);
        EXPECT_EQ(in.descendants, 0u);
        return;
    }
    EXPECT_GT(in.children, 1u);
    std::uint32_t point = in.first_point, below = in.first_child + in.children;
    for (std::uint32_t k = 0; k < in.children; ++k) {
        const cell &child = of.cells[in.first_child + k];
        EXPECT_EQ(child.first_point, point);
        EXPECT_LE(child.side, in.side / 2);
        if (child.children != 0) {
            EXPECT_EQ(child.first_child, below);
        }
        below += child.descendants;
        point += child.points;
        expect_cell(of, child);
    }
    EXPECT_EQ(point, in.first_point + in.points);
    EXPECT_EQ(below, in.first_child + in.descendants);
}

TEST(Tree, HasTheMassOfItsCells) {
    for (const std::uint64_t count : {1, 2, 8, 9, 100, 3000}) {
        const auto points = plummer_points(count);
        std::vector<std::uint32_t> order;
        const tree made = make_tree(points, whole_space, &order);
        ASSERT_EQ(made.points.size(), count);
        EXPECT_EQ(made.cells[0].points, count);
        EXPECT_LE(made.cells.size(), 2 * count);
        expect_cell(made, made.cells[0]);
        std::vector<std::uint32_t> sorted = order;
        std::sort(sorted.begin(), sorted.end());
        for (std::uint32_t i = 0; i < count; ++i) {
            ASSERT_EQ(sorted[i], i);
            EXPECT_EQ(made.points[i].at, points[order[i]].at);
        }
    }
}

TEST(Tree, MayBeEmpty) {
    const tree none = make_tree({}, whole_space);
    EXPECT_TRUE(none.cells.empty() && none.points.empty());
    EXPECT_TRUE(groups_of(none, 8).empty());
}

TEST(Tree, HoldsAnyNumberOfPointsInOnePlace) {
    const std::vector<point> same(100, point{{1, 2, 3}, 0.01});
    const tree made = make_tree(same, whole_space);
    EXPECT_EQ(made.cells.size(), 1u);
    EXPECT_EQ(made.cells[0].points, 100u);
    EXPECT_NEAR(made.cells[0].all.at[1], 2, 1e-12);
}

TEST(Tree, SortsAlongTheMortonCurve) {
    EXPECT_EQ(morton_key({-50, -50, -50}, whole_space), 0u);
    EXPECT_EQ(morton_key({50, 50, 50}, whole_space), (std::uint64_t{1} << 63) - 1);
    EXPECT_EQ(morton_key({0, -50, -50}, whole_space), std::uint64_t{4} << 60);
    EXPECT_EQ(morton_key({-50, 0, -50}, whole_space), std::uint64_t{2} << 60);
    EXPECT_EQ(morton_key({-50, -50, 25}, whole_space), std::uint64_t{1} << 60 | std::uint64_t{1} << 57);
}

TEST(Groups, HaveEachBodyOnceAndAreSmall) {
    const tree made = make_tree(plummer_points(1000), whole_space);
    for (const unsigned most : {1u, 5u, 8u, 32u, 2000u}) {
        std::uint32_t next = 0;
        for (const group &each : groups_of(made, most)) {
            EXPECT_EQ(each.first, next);
            EXPECT_LE(each.count, most);
            EXPECT_GT(each.count, 0u);
            next += each.count;
        }
        EXPECT_EQ(next, 1000u);
    }
}

} // namespace
} // namespace barnes_hut
