#include <gtest/gtest.h>

#include "apps/monte_carlo/command_line.hpp"
#include "tests/support/application.hpp"

namespace monte_carlo {
namespace {
using outcome_of_reading = fult::testing::reading<command_line>;
const fult::testing::application<command_line> program{"monte_carlo", read_command_line};

TEST(CommandLine, HasDefaults) {
    const outcome_of_reading out = program.read({"900000"});
    ASSERT_FALSE(out.status) << out.error;
    EXPECT_EQ(out.line.given.particles, 900000u);
    EXPECT_EQ(out.line.given.bands, 10u);
    EXPECT_EQ(out.line.how, scheme::prefetch);
    EXPECT_EQ(out.line.servers, 1);
    EXPECT_EQ(out.line.cache, 0u);
    EXPECT_TRUE(out.line.check);
    EXPECT_EQ(out.line.workers, 0u);
}

TEST(CommandLine, TakesOptions) {
    const command_line line =
        program
            .read({"1000", "--bands=7", "--points", "100", "--nuclides=3", "--thickness=.5",
                   "--seed=18446744073709551615", "--scheme=dedicated", "--servers=2", "--cache=3",
                   "--in-flight=5", "--no-check", "--tallies=flux.txt", "--workers=2"})
            .line;
    EXPECT_EQ(line.given.bands, 7u);
    EXPECT_EQ(line.given.points, 100u);
    EXPECT_EQ(line.given.nuclides, 3u);
    EXPECT_EQ(line.given.thickness, 0.5);
    EXPECT_EQ(line.given.seed, ~std::uint64_t{0});
    EXPECT_EQ(line.how, scheme::dedicated);
    EXPECT_EQ(line.servers, 2);
    EXPECT_EQ(line.cache, 3u);
    EXPECT_EQ(line.in_flight, 5u);
    EXPECT_FALSE(line.check);
    EXPECT_EQ(line.tallies_file, "flux.txt");
    EXPECT_EQ(line.workers, 2u);
    EXPECT_EQ(program.read({"9", "--scheme=simple"}).line.how, scheme::simple);
    EXPECT_EQ(program.read({"9", "--scheme=prefetch"}).line.how, scheme::prefetch);
    EXPECT_EQ(program.read({"9", "--servers=3"}, apps::version::processes).line.servers, 3);
}

TEST(CommandLine, HasHelp) { program.expect_help_of_versions(); }

TEST(CommandLine, RejectsWhatIsWrong) {
    program.expect_refused({}, "particles is required");
    program.expect_refused({"0"}, "particles: must be a whole number from 1 to 1000000000, not '0'");
    program.expect_refused({"9", "--scheme=best"},
                           "--scheme: must be dedicated, simple or prefetch, not 'best'");
    program.expect_refused({"9", "--thickness=0"},
                           "--thickness: must be a number from 0.001 to 100000, not '0'");
    program.expect_refused({"9", "--thickness=thin"}, "--thickness: must be a number, not 'thin'");
    program.expect_refused({"9", "--bands=0"}, "--bands: must be a whole number from 1 to 1000, not '0'");
    program.expect_refused({"9", "--scheme=simple"},
                           "The following argument was not expected: --scheme=simple",
                           apps::version::processes);
    program.expect_refused({"9", "--servers=1"}, "The following argument was not expected: --servers=1",
                           apps::version::serial);
}
} // namespace
} // namespace monte_carlo
