// A program's reader of command lines, called with words: what it makes of them, and what it prints.
#pragma once

#include <gtest/gtest.h>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace fult::testing {

template <class Wanted> struct reading {
    std::optional<int> status;
    Wanted line;
    std::string output, error;
};

// read(argc, argv, wanted) returns the exit status if the program is not to run.
template <class Wanted, class Read>
reading<Wanted> read_words(const char *program, std::initializer_list<const char *> words, const Read &read) {
    std::vector<const char *> all{program};
    all.insert(all.end(), words);
    reading<Wanted> out;
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    out.status = read(int(all.size()), all.data(), out.line);
    out.output = ::testing::internal::GetCapturedStdout();
    out.error = ::testing::internal::GetCapturedStderr();
    return out;
}

template <class Wanted> void expect_help(const reading<Wanted> &out) {
    EXPECT_EQ(out.status, 0);
    EXPECT_EQ(out.error, "");
    std::istringstream lines(out.output);
    for (std::string each; std::getline(lines, each);)
        EXPECT_LE(each.size(), 100u) << each;
}

} // namespace fult::testing
