#include <gtest/gtest.h>

#include "apps/sptrsv/command_line.hpp"
#include "tests/support/application.hpp"

namespace sptrsv {
namespace {
using outcome = fult::testing::reading<command_line>;
const fult::testing::application<command_line> program{"sptrsv", read_command_line};

TEST(CommandLine, HasDefaults) {
    const outcome out = program.read({"30", "20"});
    ASSERT_FALSE(out.status) << out.error;
    ASSERT_TRUE(out.line.points);
    EXPECT_EQ(out.line.points->nx, 30);
    EXPECT_EQ(out.line.points->ny, 20);
    EXPECT_EQ(out.line.points->nz, 1);
    EXPECT_EQ(out.line.points->around, stencil::star);
    EXPECT_EQ(out.line.points->numbers, order::natural);
    EXPECT_EQ(out.line.made, factor::ic0);
    EXPECT_FALSE(out.line.backward);
    EXPECT_EQ(out.line.entries_in_section, 512);
    EXPECT_EQ(out.line.entries_in_task, 8192);
    EXPECT_EQ(out.line.solves, 10);
}

TEST(CommandLine, TakesOptions) {
    const command_line line = program
                                  .read({"--stencil=box", "--order", "dissected", "4", "5",
                                         "--factor=triangle", "6", "--backward", "--section=7", "--task=9",
                                         "--solves=8", "--workers=2", "--plot=p.svg", "--write", "m.mtx"})
                                  .line;
    ASSERT_TRUE(line.points);
    EXPECT_EQ(line.points->nz, 6);
    EXPECT_EQ(line.points->around, stencil::box);
    EXPECT_EQ(line.points->numbers, order::dissected);
    EXPECT_EQ(line.made, factor::triangle);
    EXPECT_TRUE(line.backward);
    EXPECT_EQ(line.entries_in_section, 7);
    EXPECT_EQ(line.entries_in_task, 9);
    EXPECT_EQ(line.solves, 8);
    EXPECT_EQ(line.workers, 2u);
    EXPECT_EQ(line.plot_file, "p.svg");
    EXPECT_EQ(line.written_file, "m.mtx");
}

TEST(CommandLine, TakesAFile) {
    const command_line line = program.read({"some.mtx"}).line;
    EXPECT_FALSE(line.points);
    EXPECT_EQ(line.matrix_file, "some.mtx");
}

TEST(CommandLine, HasHelp) { program.expect_help_of_versions(); }

TEST(CommandLine, RejectsWhatIsWrong) {
    program.expect_refused({}, "expected nx ny, nx ny nz or the name of a matrix file, and got 0 words");
    program.expect_refused({"1", "2", "3", "4"},
                           "expected nx ny, nx ny nz or the name of a matrix file, and got 4 words");
    program.expect_refused({"5", "0"}, "ny: must be a whole number from 1 to 2147483647, not '0'");
    program.expect_refused({"5", "5", "--stencil=round"}, "--stencil: must be box or star, not 'round'");
    program.expect_refused({"5", "5", "--factor=lu"}, "--factor: must be ic0 or triangle, not 'lu'");
    program.expect_refused({"5", "5", "--order=any"}, "--order: must be dissected or natural, not 'any'");
    program.expect_refused({"m.mtx", "--order=natural"},
                           "--stencil and --order: are for grids, not for matrix files");
    program.expect_refused({"5", "5", "--solves=0"},
                           "--solves: must be a whole number from 1 to 1000000, not '0'");
    program.expect_refused({"5", "5", "--section=9"}, "The following argument was not expected: --section=9",
                           apps::version::serial);
}

} // namespace
} // namespace sptrsv
