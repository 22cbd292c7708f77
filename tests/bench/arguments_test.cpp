// The command line of the benchmarks, and what all programs have of tools/command_line.hpp.
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "bench/common/arguments.hpp"
#include "tools/command_line.hpp"

namespace {

struct bench_arguments : ::testing::Test {
    unsigned size = 38;
    unsigned long bytes = 0;
    int shape = 0;
    double share = 0.5;
    std::string name = "usual", word;
    bool show = false;

    void read(std::vector<std::string> words) {
        bench::arguments line("bench: a purpose.");
        line.word(
            "TREE",
            [this](const std::string &given) {
                word = given;
                return given == "none" ? std::string("there is no such tree") : std::string();
            },
            "a tree");
        line.option("-n,--size", size, std::string(40, 'x') + " " + std::string(40, 'y') + " the end");
        line.option("--bytes", bytes, "how many");
        line.option("-a", shape, "a shape");
        line.option("--share", share, "a part");
        line.option("--name", name, "a name");
        line.option("--show", show, "shows");
        words.insert(words.begin(), "bench");
        std::vector<char *> pointers;
        for (std::string &each : words)
            pointers.push_back(each.data());
        line.parse(static_cast<int>(pointers.size()), pointers.data());
    }
};

TEST_F(bench_arguments, are_read) {
    read({"-n", "3", "--bytes=18446744073709551615", "T1", "-a", "-2", "--share", "1e-3", "--name", "x y",
          "--show"});
    EXPECT_EQ(size, 3u);
    EXPECT_EQ(bytes, 18446744073709551615ul);
    EXPECT_EQ(shape, -2);
    EXPECT_EQ(share, 1e-3);
    EXPECT_EQ(name, "x y");
    EXPECT_EQ(word, "T1");
    EXPECT_TRUE(show);
}

TEST_F(bench_arguments, keep_their_defaults) {
    read({});
    EXPECT_EQ(size, 38u);
    EXPECT_EQ(name, "usual");
    EXPECT_FALSE(show);
}

TEST_F(bench_arguments, are_decimal) {
    read({"-n", "010"});
    EXPECT_EQ(size, 10u);
}

using bench_arguments_death = bench_arguments;

TEST_F(bench_arguments_death, wrong_ones_end_with_status_2_and_the_remedy) {
    const auto refused = [this](const std::vector<std::string> &words, const std::string &message) {
        EXPECT_EXIT(read(words), ::testing::ExitedWithCode(2),
                    "^bench: " + message + "; --help lists the options")
            << message;
    };
    refused({"-n", "x"}, "--size: must be a whole number from 0 to 4294967295, not 'x'");
    refused({"-n", "-1"}, "--size: must be a whole number from 0 to 4294967295, not '-1'");
    refused({"-n", "4294967296"}, "--size: must be a whole number from 0 to 4294967295, not '4294967296'");
    refused({"-n"}, "--size: 1 required VALUE missing");
    refused({"--share", "half"}, "--share: must be a number, not 'half'");
    refused({"--siz", "1"}, "The following argument was not expected: --siz");
    refused({"T1", "T2"}, "The following argument was not expected: T2");
    refused({"none"}, "TREE: there is no such tree");
    EXPECT_EXIT(bench::arguments::fail("too many"), ::testing::ExitedWithCode(2),
                "too many; --help lists the options");
}

TEST_F(bench_arguments_death, help_ends_with_status_0) {
    EXPECT_EXIT(read({"--help"}), ::testing::ExitedWithCode(0), "");
}

TEST(command_line, its_help_is_complete_and_has_at_most_100_columns) {
    bool flag = false;
    unsigned number = 7;
    fult::tools::command_line line(std::string(60, 'p') + " " + std::string(60, 'q'), "program");
    line.add_switch("--flag", flag, std::string(50, 'x') + " " + std::string(50, 'y') + " the end");
    line.add_option("-n,--a-name-longer-than-the-column", number, "a number")
        ->type_name("N")
        ->capture_default_str();
    line.footer("the footer");
    const std::string help = line.help();
    for (const char *part : {"--flag", "the end", "-n,--a-name-longer-than-the-column N", "a number (7)",
                             "the footer\n", "usage: program [option...]\n", "-h,--help"})
        EXPECT_NE(help.find(part), std::string::npos) << part << " in\n" << help;
    std::istringstream lines(help);
    for (std::string each; std::getline(lines, each);)
        EXPECT_LE(each.size(), 100u) << each;
}

} // namespace
