#include <gtest/gtest.h>

#include "apps/dt/command_line.hpp"
#include "tests/support/application.hpp"

namespace dt {
namespace {
using outcome = fult::testing::reading<command_line>;
const fult::testing::application<command_line> program{"dt", read_command_line};

TEST(CommandLine, TakesAClassAndAGraph) {
    const outcome out = program.read({"A", "--workers=3", "SH"});
    ASSERT_FALSE(out.status) << out.error;
    EXPECT_EQ(out.line.given.name, 'A');
    EXPECT_EQ(out.line.given.width, 16);
    EXPECT_EQ(out.line.form, shape::shuffle);
    EXPECT_EQ(out.line.workers, 3u);
    EXPECT_EQ(program.read({"S", "BH"}).line.form, shape::black_hole);
    EXPECT_EQ(program.read({"S", "WH"}, apps::version::serial).line.form, shape::white_hole);
}

TEST(CommandLine, HasHelp) { program.expect_help_of_versions(); }

TEST(CommandLine, RejectsWhatIsWrong) {
    program.expect_refused({}, "class is required");
    program.expect_refused({"S"}, "graph is required");
    program.expect_refused({"C", "BH"}, "class: must be S, W, A or B, not 'C'");
    program.expect_refused({"SS", "BH"}, "class: must be S, W, A or B, not 'SS'");
    program.expect_refused({"S", "bh"}, "graph: must be BH, WH or SH, not 'bh'");
    program.expect_refused({"S", "BH", "WH"}, "The following argument was not expected: WH");
    program.expect_refused({"S", "BH", "--workers=0"},
                           "--workers: must be a whole number from 1 to 1024, not '0'");
    program.expect_refused({"S", "BH", "--workers=2"}, "The following argument was not expected: --workers=2",
                           apps::version::processes);
}
} // namespace
} // namespace dt
