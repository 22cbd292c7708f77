// main of the test programs. Several sources are linked into one program:
//
//   PROGRAM --file=fult/spawn_test.cpp [GoogleTest's options]   runs the tests of that source alone
//
// A --gtest_filter takes precedence: GoogleTest passes one to the programs of death tests.
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace {

bool ends_with_path(std::string_view path, std::string_view end) {
    return path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

// A filter for the tests of a source; empty if there are none.
std::string filter_for(std::string_view file) {
    std::string filter; // each ends in a colon, which GoogleTest ignores
    const auto &program = *::testing::UnitTest::GetInstance();
    for (int s = 0; s < program.total_test_suite_count(); ++s) {
        const auto &suite = *program.GetTestSuite(s);
        for (int t = 0; t < suite.total_test_count(); ++t)
            if (const auto &test = *suite.GetTestInfo(t); ends_with_path(test.file(), file))
                filter.append(suite.name()).append(".").append(test.name()).append(":");
    }
    return filter;
}

} // namespace

int main(int argc, char **argv) {
    ::testing::InitGoogleTest(&argc, argv);
    constexpr std::string_view option = "--file=";
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (!argument.starts_with(option)) {
            std::fprintf(stderr, "unknown option '%s'; there are --file=SOURCE and GoogleTest's\n", argv[i]);
            return 2;
        }
        if (GTEST_FLAG_GET(filter) != "*")
            continue;
        const std::string filter = filter_for(argument.substr(option.size()));
        if (filter.empty()) {
            std::fprintf(stderr, "no test of this program is from '%s'\n", argv[i] + option.size());
            return 2;
        }
        GTEST_FLAG_SET(filter, filter);
    }
    return RUN_ALL_TESTS();
}
