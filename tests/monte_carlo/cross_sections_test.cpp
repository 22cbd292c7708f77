// The tables: their bands meet, interpolation is exact at the rows, and they have the features of nuclear
// data.
#include <cmath>
#include <gtest/gtest.h>

#include "apps/monte_carlo/cross_sections.hpp"

namespace monte_carlo {
namespace {

constexpr problem tabulated{.seed = 3, .bands = 5, .points = 2000, .nuclides = 7};

bool same(const cross_section &one, const cross_section &other) {
    return one.total == other.total && one.absorbed == other.absorbed;
}

TEST(Tables, OfNeighboursMeet) {
    for (unsigned band = 0; band + 1 < tabulated.bands; ++band) {
        const auto higher = make_table(tabulated, band), lower = make_table(tabulated, band + 1);
        ASSERT_EQ(higher.size(), table_size(tabulated));
        const std::size_t last = std::size_t(tabulated.points) * tabulated.nuclides;
        for (unsigned k = 0; k < tabulated.nuclides; ++k)
            EXPECT_TRUE(same(higher[last + k], lower[k])) << band << ' ' << k;
    }
}

TEST(Tables, AbsorbLessThanAll) {
    for (unsigned band = 0; band < tabulated.bands; ++band)
        for (const cross_section &each : make_table(tabulated, band)) {
            EXPECT_GT(each.absorbed, 0);
            EXPECT_GT(each.total, each.absorbed);
        }
}

TEST(Tables, DependOnTheSeedInResonancesAlone) {
    problem other = tabulated;
    other.seed = 4;
    const auto one = make_table(tabulated, 2), two = make_table(other, 2);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        const bool light = mass_of(unsigned(i % tabulated.nuclides)) < 27;
        if (light)
            EXPECT_TRUE(same(one[i], two[i]));
        else
            differ += same(one[i], two[i]) ? 0 : 1;
    }
    EXPECT_GT(differ, 100u);
}

TEST(Tables, HaveAbsorptionByVelocityAndResonances) {
    const auto thermal = make_table(tabulated, 4), middle = make_table(tabulated, 2);
    const std::size_t last = std::size_t(tabulated.points) * tabulated.nuclides;
    const double ratio = std::sqrt(energy_at(most_lethargy * 0.8) / energy_at(most_lethargy));
    EXPECT_NEAR(thermal[last].absorbed / thermal[0].absorbed, ratio, 1e-9 * ratio); // hydrogen
    double least = 1e9, most = 0;
    for (std::size_t i = 4; i < middle.size(); i += tabulated.nuclides) {
        least = std::min(least, middle[i].absorbed);
        most = std::max(most, middle[i].absorbed);
    }
    EXPECT_GT(most, 20 * least);
}

TEST(BandTable, InterpolatesBetweenRows) {
    const unsigned band = 1;
    const auto values = make_table(tabulated, band);
    const band_table table(tabulated, band, values);
    const double step = most_lethargy / tabulated.bands / tabulated.points;
    const double begin = most_lethargy / tabulated.bands;
    for (const unsigned point : {0u, 1u, 77u, 1998u}) {
        const auto middle = table.at(begin + (point + 0.5) * step);
        const cross_section *const row = &values[std::size_t(point) * tabulated.nuclides];
        EXPECT_EQ(middle.low, row);
        EXPECT_NEAR(middle.part, 0.5, 1e-6);
        EXPECT_NEAR(middle.total(2), (row[2].total + row[2 + tabulated.nuclides].total) / 2, 1e-9);
        EXPECT_NEAR(middle.absorbed(3), (row[3].absorbed + row[3 + tabulated.nuclides].absorbed) / 2, 1e-9);
    }
    EXPECT_EQ(table.at(begin).low, &values[0]);
    EXPECT_EQ(table.at(2 * begin).low, &values[1999 * std::size_t(tabulated.nuclides)]); // the last interval
}

TEST(Bands, DivideAllEnergies) {
    EXPECT_EQ(band_of(lethargy_of(highest_energy), tabulated), 0u);
    EXPECT_EQ(band_of(lethargy_of(1e30), tabulated), 0u);
    EXPECT_EQ(band_of(lethargy_of(lowest_energy), tabulated), 4u);
    EXPECT_EQ(band_of(lethargy_of(0), tabulated), 4u);
    EXPECT_EQ(band_of(most_lethargy * 0.39, tabulated), 1u);
    EXPECT_EQ(band_of(most_lethargy * 0.41, tabulated), 2u);
    EXPECT_NEAR(energy_at(lethargy_of(123.0)), 123.0, 1e-10);
}

} // namespace
} // namespace monte_carlo
