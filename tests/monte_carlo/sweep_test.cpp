// Sweeps over bands against histories, which particles a rank has, and the verification.
#include <gtest/gtest.h>
#include <string>

#include "apps/monte_carlo/histories.hpp"
#include "apps/monte_carlo/layout.hpp"
#include "apps/monte_carlo/report.hpp"
#include "apps/monte_carlo/sweep.hpp"
#include "apps/monte_carlo/transport.hpp"

namespace monte_carlo {
namespace {

constexpr problem swept{
    .particles = 1000, .seed = 9, .bands = 6, .points = 100, .nuclides = 4, .thickness = 30};

TEST(Sweeps, HaveTheTalliesOfHistories) {
    const all_tables tables = make_all_tables(swept);
    const layout divided(3, 0, "fult-run");
    tally all;
    for (int rank = 0; rank < 3; ++rank) {
        unsigned last_sweep = 0, last_band = 0;
        const auto own = divided.particles_of(rank, swept);
        all[tally::born] += own.size();
        const unsigned sweeps = sweep_bands(
            swept, own, [&](unsigned band) -> const std::vector<cross_section> & { return tables[band]; },
            [&](unsigned band, const std::vector<cross_section> &table, std::span<particle> here) {
                for (particle &each : here) {
                    EXPECT_EQ(band_of(each.lethargy, swept), band);
                    track_in_band(each, band_table(swept, band, table), all);
                    EXPECT_TRUE(each.state != fate::flying || band_of(each.lethargy, swept) != band);
                }
            },
            [&](unsigned sweep, unsigned band, std::size_t flying) {
                EXPECT_TRUE(sweep > last_sweep || (sweep == last_sweep && band > last_band));
                EXPECT_GT(flying, 0u);
                last_sweep = sweep;
                last_band = band;
            });
        EXPECT_EQ(sweeps, last_sweep);
        EXPECT_GT(sweeps, 1u); // thermal energies rise
    }
    EXPECT_EQ(all, track_histories(swept, tables));
}

TEST(Layout, DividesBandsAndParticles) {
    for (const auto &[ranks, servers] :
         {std::pair(1, 0), std::pair(4, 0), std::pair(4, 1), std::pair(5, 3)}) {
        const layout divided(ranks, servers, "fult-run");
        std::size_t bands = 0, particles = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            for (const unsigned band : divided.bands_of(rank, swept))
                EXPECT_EQ(divided.owner(band), rank);
            bands += divided.bands_of(rank, swept).size();
            particles += divided.particles_of(rank, swept).size();
            EXPECT_LE(divided.bands_of(rank, swept).size(), divided.bands_of(divided.owner(0), swept).size());
            EXPECT_EQ(divided.has_particles(rank), servers == 0 || divided.bands_of(rank, swept).empty());
        }
        EXPECT_EQ(bands, swept.bands);
        EXPECT_EQ(particles, swept.particles);
    }
}

TEST(Layout, NeedsTrackers) {
    try {
        const layout impossible(2, 2, "fult-run");
        ADD_FAILURE() << "two servers on two ranks";
    } catch (const apps::failure &error) {
        EXPECT_EQ(std::string(error.what()), "2 of 2 ranks are servers, and none is left to track particles; "
                                             "start more, with 'fult-run -n 3' at least");
    }
}

TEST(Verification, FindsWhatIsWrong) {
    outcome right;
    right.found = track_histories(swept, make_all_tables(swept));
    EXPECT_EQ(wrong(swept, right), "");
    right.expected = right.found;
    EXPECT_EQ(wrong(swept, right), "");

    outcome other = right;
    ++(*other.expected)[tally::collisions];
    EXPECT_EQ(wrong(swept, other),
              "the tallies differ from those of one particle after the other in one thread");
    other = right;
    --other.found[tally::absorbed];
    EXPECT_EQ(wrong(swept, other),
              "particles are not conserved: 1000 of 1000 were born, and 999 were absorbed or have leaked");
    other = right;
    ++other.found.words()[0];
    EXPECT_EQ(wrong(swept, other), "the flux by energy has another sum than the flux by depth");
    EXPECT_NE(other.found.checksum(), right.found.checksum());
}

} // namespace
} // namespace monte_carlo
