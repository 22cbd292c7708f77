// The bodies: the properties of the Plummer model in its units.
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "apps/barnes_hut/plummer.hpp"

namespace barnes_hut {
namespace {

double length(const vector3 &v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

std::vector<body> made(std::uint64_t count, std::uint64_t seed) {
    std::vector<body> all;
    for (std::uint64_t i = 0; i < count; ++i)
        all.push_back(plummer_body(i, count, seed));
    return all;
}

TEST(Plummer, HasTheMassWithinEachRadius) {
    const auto all = made(20000, 1);
    const double scale = 3 * std::acos(-1.0) / 16;
    for (const double radius : {0.2, 0.5, 1.0, 3.0}) {
        const double r = radius / scale;
        const double expected = std::pow(1 + 1 / (r * r), -1.5) / 0.999;
        double inside = 0;
        for (const body &each : all)
            inside += length(each.here.at) < radius ? each.here.mass : 0;
        EXPECT_NEAR(inside, expected, 0.015) << radius; // the deviation is 0.0035 at most
    }
}

TEST(Plummer, IsInEquilibrium) {
    const auto all = made(4000, 2);
    double kinetic = 0, potential = 0;
    for (const body &each : all)
        kinetic += each.here.mass * length(each.velocity) * length(each.velocity) / 2;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const vector3 &a = all[i].here.at, &b = all[k].here.at;
            potential -=
                all[i].here.mass * all[k].here.mass / length({a[0] - b[0], a[1] - b[1], a[2] - b[2]});
        }
    EXPECT_NEAR(kinetic, 0.25, 0.01);
    EXPECT_NEAR(potential, -0.5, 0.02);
}

TEST(Plummer, HasNoDirection) {
    const auto all = made(20000, 3);
    vector3 center{}, momentum{};
    for (const body &each : all)
        for (std::size_t k = 0; k < 3; ++k) {
            center[k] += each.here.mass * each.here.at[k];
            momentum[k] += each.here.mass * each.velocity[k];
        }
    EXPECT_LT(length(center), 0.05);
    EXPECT_LT(length(momentum), 0.02);
}

TEST(Plummer, MakesEachBodyAlone) {
    const auto all = made(100, 4), others = made(100, 5);
    EXPECT_EQ(plummer_body(42, 100, 4).here.at, all[42].here.at);
    EXPECT_EQ(plummer_body(42, 100, 4).velocity, all[42].velocity);
    EXPECT_EQ(all[42].number, 42u);
    EXPECT_NE(all[42].here.at, all[41].here.at);
    EXPECT_NE(all[42].here.at, others[42].here.at);
}

} // namespace
} // namespace barnes_hut
