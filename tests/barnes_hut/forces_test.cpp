// Forces of a walk through one or two trees against direct summation.
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "apps/barnes_hut/own_forces.hpp"
#include "apps/barnes_hut/plummer.hpp"
#include "apps/barnes_hut/verify.hpp"

namespace barnes_hut {
namespace {

constexpr cube all_space{{-50, -50, -50}, 100};

std::vector<body> plummer_bodies(std::uint64_t count) {
    std::vector<body> all;
    for (std::uint64_t i = 0; i < count; ++i)
        all.push_back(plummer_body(i, count, 7));
    return all;
}

// Of all bodies; the second half of them lies in a tree of its own.
std::vector<body> attracted(std::vector<body> all, const force_settings &how, std::uint64_t *interactions) {
    std::vector<body> first(all.begin(), all.begin() + std::ptrdiff_t(all.size() / 2));
    std::vector<body> second(all.begin() + std::ptrdiff_t(all.size() / 2), all.end());
    const tree a = tree_of(first, all_space), b = tree_of(second, all_space);
    *interactions = 0;
    for (const auto &[bodies, own, other] : {std::tuple(&first, &a, &b), std::tuple(&second, &b, &a)}) {
        const std::vector<group> groups = groups_of(*own, how.group);
        for (const auto &block : blocks_of(*own, groups))
            *interactions += attract_block(
                *bodies, block, *own, how,
                [other = other](const viewer &view, const auto &act) { return survey(*other, view, act); });
    }
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// The mean error of the accelerations of all bodies.
double error_of(const std::vector<body> &all, double softening) {
    std::vector<vector3> found, exact;
    for (const body &each : all) {
        found.push_back(each.acceleration);
        exact.push_back(direct_sum(each.here.at, all, softening));
    }
    return compare(found, exact).mean;
}

TEST(Forces, AreExactWithoutAnAngle) {
    const auto given = plummer_bodies(300);
    std::uint64_t interactions = 0;
    const auto all = attracted(given, {.angle = 0, .softening = 0.05, .group = 7}, &interactions);
    EXPECT_EQ(interactions, 300u * 300u);
    EXPECT_LT(error_of(all, 0.05), 1e-13);
    double found = 0, exact = 0;
    for (const body &each : all) {
        found += each.potential;
        for (const body &other : all)
            if (other.number != each.number) {
                double square = 0.05 * 0.05;
                for (std::size_t k = 0; k < 3; ++k)
                    square += std::pow(other.here.at[k] - each.here.at[k], 2);
                exact -= other.here.mass / std::sqrt(square);
            }
    }
    EXPECT_NEAR(found, exact, 1e-10);
}

TEST(Forces, AreBetterWithSmallerAnglesAndCostMore) {
    const auto given = plummer_bodies(1200);
    double before = 0.01;
    std::uint64_t least = 0;
    for (const double angle : {0.57, 0.4, 0.2}) {
        std::uint64_t interactions = 0;
        const auto all = attracted(given, {.angle = angle, .softening = 0.05, .group = 16}, &interactions);
        const double error = error_of(all, 0.05);
        EXPECT_LT(error, before) << angle;
        EXPECT_GT(error, 1e-8) << angle;
        EXPECT_GT(interactions, least);
        before = error;
        least = interactions;
    }
    EXPECT_LT(least, 1200u * 1200u);
}

TEST(Forces, OfSingleBodiesNeedFewerInteractionsThanThoseOfGroups) {
    const auto given = plummer_bodies(900);
    std::uint64_t single = 0, grouped = 0;
    EXPECT_LT(error_of(attracted(given, {.angle = 0.5, .softening = 0.05, .group = 1}, &single), 0.05), 0.01);
    EXPECT_LT(error_of(attracted(given, {.angle = 0.5, .softening = 0.05, .group = 64}, &grouped), 0.05),
              0.01);
    EXPECT_LT(single, grouped);
}

// What a block finds for all its groups is what each would find.
TEST(Forces, OfBlocksAreThoseOfTheirGroups) {
    std::vector<body> bodies = plummer_bodies(3000);
    const tree whole = tree_of(bodies, all_space);
    const auto nothing_else = [](const viewer &, const auto &) { return outlook<own_part>(); };
    for (const unsigned most : {1u, 32u, 1024u}) {
        const force_settings how{.angle = 0.5, .softening = 0.05, .group = most};
        const std::vector<group> groups = groups_of(whole, most);
        std::uint64_t by_blocks = 0, by_groups = 0;
        std::size_t in_blocks = 0;
        for (const auto &block : blocks_of(whole, groups)) {
            in_blocks += block.size();
            by_blocks += attract_block(bodies, block, whole, how, nothing_else);
        }
        EXPECT_EQ(in_blocks, groups.size());
        std::vector<body> alone = bodies;
        begin_forces(alone, how.softening);
        for (const group &each : groups) {
            const auto some = bodies_of(alone, each);
            attraction sum(some, how.softening);
            walk(whole, viewer(box_of(some), how.angle), [&sum](const point &mass) { sum.add(mass); });
            by_groups += sum.finish();
        }
        EXPECT_EQ(by_blocks, by_groups) << most;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            EXPECT_NEAR(bodies[i].potential, alone[i].potential, 1e-11) << most;
            for (std::size_t k = 0; k < 3; ++k)
                EXPECT_NEAR(bodies[i].acceleration[k], alone[i].acceleration[k], 1e-11) << most;
        }
    }
}

TEST(Verification, FindsWhatIsWrong) {
    const std::vector<vector3> exact{{1, 0, 0}, {0, 2, 0}};
    EXPECT_EQ(compare(exact, exact).mean, 0);
    const std::vector<vector3> found{{1, 0.1, 0}, {0, 2, 0}};
    EXPECT_NEAR(compare(found, exact).mean, 0.1 / std::sqrt(5.0), 1e-15);
    EXPECT_NEAR(compare(found, exact).worst, 0.1 / std::sqrt(2.5), 1e-15);
    EXPECT_EQ(sample_of(10, 3), (std::vector<std::uint64_t>{0, 3, 6}));
    EXPECT_EQ(sample_of(2, 64), (std::vector<std::uint64_t>{0, 1}));
}

} // namespace
} // namespace barnes_hut
