#include <initializer_list>
#include <vector>

#include "apps/hpccg/command_line.hpp"
#include "support.hpp"

namespace hpccg {
namespace {
command_line parse(std::initializer_list<const char *> words) {
    std::vector<const char *> all{"hpccg"};
    all.insert(all.end(), words);
    return read_command_line(int(all.size()), all.data());
}

std::string wrong(std::initializer_list<const char *> words) {
    return testing::message_of([&] { parse(words); });
}

TEST(CommandLine, TakesAGrid) {
    const command_line line = parse({"10", "--workers", "3", "20", "30", "--iterations=7"});
    ASSERT_TRUE(line.points);
    EXPECT_EQ(line.points->name(), "10 x 20 x 30");
    EXPECT_EQ(line.workers, 3u);
    EXPECT_EQ(line.iterations, 7);
}

TEST(CommandLine, TakesAFile) {
    const command_line line = parse({"--write", "out", "--residuals=r", "matrix"});
    EXPECT_FALSE(line.points);
    EXPECT_EQ(line.matrix_file, "matrix");
    EXPECT_EQ(line.written_file, "out");
    EXPECT_EQ(line.residuals_file, "r");
    EXPECT_EQ(line.iterations, usual_iterations);
    EXPECT_EQ(parse({"--", "--strange"}).matrix_file, "--strange");
}

TEST(CommandLine, HelpComesFirst) {
    EXPECT_TRUE(parse({"1", "--help", "--nonsense"}).help);
    EXPECT_NE(help_text("x", true).find("--workers"), std::string::npos);
    EXPECT_EQ(help_text("x", false).find("--workers"), std::string::npos);
}

TEST(CommandLine, SaysWhatIsWrong) {
    const std::string words = "expected nx ny nz or the name of a matrix file, and got ";
    EXPECT_EQ(wrong({}), words + "0 words");
    EXPECT_EQ(wrong({"1", "2"}), words + "2 words");
    EXPECT_EQ(wrong({"1", "2", "3", "4"}), words + "4 words");
    EXPECT_EQ(wrong({"10", "ten", "10"}), "ny: 'ten' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"10", "10", "10.5"}), "nz: '10.5' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"0", "10", "10"}), "nx: '0' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"10", "-3", "10"}), "ny: '-3' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"10", "", "10"}), "ny: '' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"10", "10", "99999999999"}), "nz: '99999999999' is too large; at most 2147483647");
    EXPECT_EQ(wrong({"10", "10", "99999999999999999999"}),
              "nz: '99999999999999999999' is too large; at most 2147483647");
    EXPECT_EQ(wrong({"--worker", "2"}), "there is no option '--worker'");
    EXPECT_EQ(wrong({"m", "--workers"}), "option --workers needs a value");
    EXPECT_EQ(wrong({"m", "--workers=0"}), "option --workers: '0' is not a whole number from 1 on");
    EXPECT_EQ(wrong({"m", "--workers=1025"}), "option --workers: '1025' is too large; at most 1024");
    EXPECT_EQ(wrong({"m", "--iterations", "x"}), "option --iterations: 'x' is not a whole number from 1 on");
}
} // namespace
} // namespace hpccg
