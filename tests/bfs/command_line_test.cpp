#include <gtest/gtest.h>

#include "apps/bfs/command_line.hpp"
#include "tests/support/application.hpp"

namespace bfs {
namespace {
using outcome = fult::testing::reading<command_line>;
const fult::testing::application<command_line> program{"bfs", read_command_line};

TEST(CommandLine, HasTheSpecificationsDefaults) {
    const outcome out = program.read({"20"});
    ASSERT_FALSE(out.status) << out.error;
    EXPECT_EQ(out.line.scale, 20);
    EXPECT_EQ(out.line.edgefactor, 16);
    EXPECT_EQ(out.line.searches, 64);
    EXPECT_TRUE(out.line.validates);
}

TEST(CommandLine, TakesOptions) {
    const command_line line =
        program
            .read({"--edgefactor=8", "--searches", "4", "12", "--seed=18446744073709551615",
                   "--no-validation", "--searchers=100", "--workers=2"})
            .line;
    EXPECT_EQ(line.scale, 12);
    EXPECT_EQ(line.edgefactor, 8);
    EXPECT_EQ(line.searches, 4);
    EXPECT_EQ(line.seed, ~std::uint64_t{0});
    EXPECT_FALSE(line.validates);
    EXPECT_EQ(line.searchers, 100);
    EXPECT_EQ(line.workers, 2u);
}

TEST(CommandLine, HasHelp) { program.expect_help_of_versions(); }

TEST(CommandLine, RejectsWhatIsWrong) {
    program.expect_refused({}, "scale is required");
    program.expect_refused({"0"}, "scale: must be a whole number from 1 to 40, not '0'");
    program.expect_refused({"41"}, "scale: must be a whole number from 1 to 40, not '41'");
    program.expect_refused({"ten"}, "scale: must be a whole number from 1 to 40, not 'ten'");
    program.expect_refused({"10", "--searches=0"},
                           "--searches: must be a whole number from 1 to 1000000, not '0'");
    program.expect_refused({"10", "--searchers=0"},
                           "--searchers: must be a whole number from 1 to 65536, not '0'");
    program.expect_refused({"10", "11"}, "The following argument was not expected: 11");
    program.expect_refused({"10", "--workers=2"}, "The following argument was not expected: --workers=2",
                           apps::version::processes);
}
} // namespace
} // namespace bfs
