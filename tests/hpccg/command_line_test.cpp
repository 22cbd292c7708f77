#include <initializer_list>
#include <optional>
#include <string>

#include "apps/hpccg/command_line.hpp"
#include "tests/support/application_files.hpp"
#include "tests/support/command_line.hpp"

namespace hpccg {
namespace {
using outcome = fult::testing::reading<command_line>;

outcome read(std::initializer_list<const char *> words, bool several_workers = true) {
    return fult::testing::read_words<command_line>(
        "hpccg", words, [several_workers](int argc, const char *const *argv, command_line &into) {
            return read_command_line(argc, argv, several_workers, into);
        });
}

command_line parse(std::initializer_list<const char *> words) {
    const outcome out = read(words);
    EXPECT_FALSE(out.status) << out.error;
    return out.line;
}

// The message, without the program's name and the hint.
std::string wrong(std::initializer_list<const char *> words) {
    const outcome out = read(words);
    const std::string before = "hpccg: ", after = "; --help lists the options\n";
    EXPECT_EQ(out.status, 2);
    EXPECT_TRUE(out.error.starts_with(before) && out.error.ends_with(after)) << out.error;
    return out.error.substr(before.size(), out.error.size() - before.size() - after.size());
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
    for (const bool several : {true, false}) {
        const outcome out = read({"1", "--help", "--nonsense"}, several);
        fult::testing::expect_help(out);
        EXPECT_EQ(out.output.find("--workers") != out.output.npos, several) << out.output;
    }
}

TEST(CommandLine, SaysWhatIsWrong) {
    const std::string words = "expected nx ny nz or the name of a matrix file, and got ";
    const std::string range = "must be a whole number from 1 to 2147483647, not ";
    EXPECT_EQ(wrong({}), words + "0 words");
    EXPECT_EQ(wrong({"1", "2"}), words + "2 words");
    EXPECT_EQ(wrong({"1", "2", "3", "4"}), words + "4 words");
    EXPECT_EQ(wrong({"10", "ten", "10"}), "ny: " + range + "'ten'");
    EXPECT_EQ(wrong({"10", "10", "10.5"}), "nz: " + range + "'10.5'");
    EXPECT_EQ(wrong({"0", "10", "10"}), "nx: " + range + "'0'");
    EXPECT_EQ(wrong({"10", "-3", "10"}), "ny: " + range + "'-3'");
    EXPECT_EQ(wrong({"10", "", "10"}), "ny: " + range + "''");
    EXPECT_EQ(wrong({"10", "10", "99999999999"}), "nz: " + range + "'99999999999'");
    EXPECT_EQ(wrong({"10", "10", "99999999999999999999"}), "nz: " + range + "'99999999999999999999'");
    EXPECT_EQ(wrong({"--worker", "2", "m"}), "The following argument was not expected: --worker");
    EXPECT_EQ(wrong({"m", "--workers"}), "--workers: 1 required N missing");
    EXPECT_EQ(wrong({"m", "--workers=0"}), "--workers: must be a whole number from 1 to 1024, not '0'");
    EXPECT_EQ(wrong({"m", "--workers=1025"}), "--workers: must be a whole number from 1 to 1024, not '1025'");
    EXPECT_EQ(wrong({"m", "--iterations", "x"}),
              "--iterations: must be a whole number from 1 to 1000000000, not 'x'");
    EXPECT_EQ(read({"m", "--workers", "1"}, false).status, std::nullopt);
    EXPECT_NE(read({"m", "--workers", "2"}, false).error.find("the serial program has one"),
              std::string::npos);
}
} // namespace
} // namespace hpccg
