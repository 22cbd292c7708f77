// Births, flights and collisions, by what is known of them.
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "apps/monte_carlo/histories.hpp"
#include "apps/monte_carlo/transport.hpp"

namespace monte_carlo {
namespace {

tally histories(const problem &of) { return track_histories(of, make_all_tables(of)); }

TEST(Random, IsAStreamForEachParticle) {
    apps::random_stream one(1, 2), again(1, 2), other(1, 3), seed(2, 2);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double value = one.uniform();
        EXPECT_EQ(value, again.uniform());
        EXPECT_NE(value, other.uniform());
        EXPECT_NE(value, seed.uniform());
        EXPECT_GE(value, 0);
        EXPECT_LT(value, 1);
        sum += value;
    }
    EXPECT_NEAR(sum / 10000, 0.5, 0.015); // the deviation is 0.003
}

TEST(Birth, HasTheSpectrumOfFission) {
    const problem of{.particles = 20000, .thickness = 30};
    double energy = 0, depth = 0, direction = 0;
    for (std::uint64_t i = 0; i < of.particles; ++i) {
        const particle each = born_particle(of, i);
        energy += energy_at(each.lethargy);
        depth += each.depth;
        direction += each.direction;
    }
    EXPECT_NEAR(energy / 20000, 1.5 * 1.29e6, 5e4); // the deviation is 1.1e4
    EXPECT_NEAR(depth / 20000, 15, 0.4);            // 0.06
    EXPECT_NEAR(direction / 20000, 0, 0.025);       // 0.004
}

// The mean of energy after / energy before.
double energy_kept(double mass) {
    double sum = 0;
    const double least = std::pow((mass - 1) / (mass + 1), 2);
    for (std::uint64_t i = 0; i < 20000; ++i) {
        particle each;
        each.random = apps::random_stream(7, i);
        each.lethargy = 5;
        scatter(each, mass);
        const double kept = std::exp(5 - each.lethargy);
        EXPECT_GE(kept, least - 1e-12);
        EXPECT_LE(kept, 1 + 1e-12);
        sum += kept;
    }
    return sum / 20000;
}

TEST(Scattering, LosesEnergyByMass) {
    EXPECT_NEAR(energy_kept(1), 0.5, 0.01);
    EXPECT_NEAR(energy_kept(12), (1 + std::pow(11.0 / 13, 2)) / 2, 0.005);
    EXPECT_NEAR(energy_kept(238), (1 + std::pow(237.0 / 239, 2)) / 2, 0.001);
}

TEST(Scattering, KeepsThermalEnergies) {
    double sum = 0;
    int raised = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        particle each;
        each.random = apps::random_stream(8, i);
        each.lethargy = lethargy_of(0.05);
        scatter(each, 1);
        sum += energy_at(each.lethargy);
        raised += each.lethargy < lethargy_of(0.05) ? 1 : 0;
    }
    EXPECT_NEAR(sum / 20000, 2 * 0.0253, 0.002); // the deviation is 0.00025
    EXPECT_GT(raised, 5000);
}

TEST(Tally, DividesFlightsWithoutLoss) {
    for (const double direction : {0.7, -0.7, 1.0, -1.0, 1e-9, 0.0}) {
        tally all;
        particle each;
        each.depth = 5;
        each.direction = direction;
        const double length = direction == 0 ? 3 : std::min(4.9 / std::abs(direction), 3.3);
        all.add_flight(each, length, 10);
        EXPECT_EQ(all.of_all_groups(), std::uint64_t(length * tally::units));
        EXPECT_EQ(all.of_all_slices(), all.of_all_groups());
    }
    tally two;
    particle each;
    each.depth = 0.1; // in the middle of the first slice
    each.direction = 0.5;
    two.add_flight(each, 1, 10);
    EXPECT_NEAR(double(two.of_slice(0)), 0.2 * tally::units, 2);
    EXPECT_NEAR(double(two.of_slice(1)), 0.4 * tally::units, 2);
    EXPECT_NEAR(double(two.of_slice(2)), 0.4 * tally::units, 2);
    EXPECT_EQ(two.of_slice(3), 0u);
}

TEST(Histories, ConserveParticles) {
    const problem of{.particles = 3000, .points = 200, .nuclides = 5, .thickness = 20};
    const tally all = histories(of);
    EXPECT_EQ(all[tally::born], 3000u);
    EXPECT_EQ(all[tally::absorbed] + all[tally::leaked_front] + all[tally::leaked_back], 3000u);
    EXPECT_GT(all[tally::absorbed], 100u);
    EXPECT_GT(all[tally::leaked_front], 100u);
    EXPECT_NEAR(double(all[tally::leaked_front]), double(all[tally::leaked_back]),
                0.3 * double(all[tally::leaked_back])); // nothing distinguishes the faces
    EXPECT_EQ(all.of_all_groups(), all.of_all_slices());
}

TEST(Histories, LeakFromAThinSlabAndEndInAThickOne) {
    const tally thin = histories({.particles = 2000, .points = 50, .nuclides = 8, .thickness = 0.001});
    EXPECT_GT(thin[tally::leaked_front] + thin[tally::leaked_back], 1960u);
    const tally thick = histories({.particles = 500, .points = 50, .nuclides = 8, .thickness = 1e5});
    EXPECT_GT(thick[tally::absorbed], 490u);
}

// With one nuclide whose cross sections are constant: the flux of a particle is a mean free path a collision.
TEST(Histories, FlyTheMeanFreePath) {
    const problem of{.particles = 5000, .bands = 1, .points = 1, .nuclides = 1, .thickness = 1e5};
    const tally all = track_histories(of, {{{4, 1}, {4, 1}}});
    const double collisions = double(all[tally::collisions]);
    EXPECT_NEAR(collisions / 5000, 4, 0.25); // each absorbs with 1/4; the deviation is 0.05
    EXPECT_NEAR(double(all.of_all_groups()) / tally::units / collisions, 0.25, 0.01); // 0.002
}

} // namespace
} // namespace monte_carlo
