#include <gtest/gtest.h>

#include "apps/barnes_hut/command_line.hpp"
#include "tests/support/application.hpp"

namespace barnes_hut {
namespace {
using outcome = fult::testing::reading<command_line>;
const fult::testing::application<command_line> program{"barnes_hut", read_command_line};

TEST(CommandLine, HasThePapersDefaults) {
    const outcome out = program.read({"65536"});
    ASSERT_FALSE(out.status) << out.error;
    EXPECT_EQ(out.line.bodies, 65536u);
    EXPECT_EQ(out.line.steps, 4);
    EXPECT_EQ(out.line.time_step, 0.025);
    EXPECT_EQ(out.line.force.angle, 0.5);
    EXPECT_EQ(out.line.workers, 0u);
}

TEST(CommandLine, TakesOptions) {
    const command_line line =
        program
            .read({"1000", "--steps=7", "--time-step", "1e-3", "--angle=0.25", "--softening=.1", "--group=1",
                   "--seed=18446744073709551615", "--sample=5", "--bodies=places.txt", "--line=1",
                   "--cache=3", "--workers=2"})
            .line;
    EXPECT_EQ(line.steps, 7);
    EXPECT_EQ(line.time_step, 1e-3);
    EXPECT_EQ(line.force.angle, 0.25);
    EXPECT_EQ(line.force.softening, 0.1);
    EXPECT_EQ(line.force.group, 1u);
    EXPECT_EQ(line.seed, ~std::uint64_t{0});
    EXPECT_EQ(line.sample, 5);
    EXPECT_EQ(line.bodies_file, "places.txt");
    EXPECT_EQ(line.line, 1u);
    EXPECT_EQ(line.cache, 3u);
    EXPECT_EQ(line.workers, 2u);
}

TEST(CommandLine, HasHelp) { program.expect_help_of_versions(); }

TEST(CommandLine, RejectsWhatIsWrong) {
    program.expect_refused({}, "bodies is required");
    program.expect_refused({"1"}, "bodies: must be a whole number from 2 to 1000000000, not '1'");
    program.expect_refused({"9", "--angle=0.6"},
                           "--angle: must be a number from 0 to 0.57: with more, a cell "
                           "might act on its own bodies, not '0.6'");
    program.expect_refused({"9", "--angle=half"}, "--angle: must be a number, not 'half'");
    program.expect_refused({"9", "--angle=nan"},
                           "--angle: must be a number from 0 to 0.57: with more, a cell "
                           "might act on its own bodies, not 'nan'");
    program.expect_refused({"9", "--softening=0"}, "--softening: must be a number from 1e-6 to 1e6, not '0'");
    program.expect_refused({"9", "--time-step=0"}, "--time-step: must be a number from 1e-9 to 1, not '0'");
    program.expect_refused({"9", "--steps=0"}, "--steps: must be a whole number from 1 to 1000000, not '0'");
    program.expect_refused({"9", "--line=2"}, "The following argument was not expected: --line=2",
                           apps::version::serial);
    program.expect_refused({"9", "--workers=2"}, "The following argument was not expected: --workers=2",
                           apps::version::processes);
}
} // namespace
} // namespace barnes_hut
