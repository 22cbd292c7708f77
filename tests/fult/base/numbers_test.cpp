#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <string_view>

#include "fult/base/numbers.hpp"

namespace {

using namespace fult::detail;

TEST(numbers, a_whole_text_is_one) {
    EXPECT_EQ(whole_number<int>("0"), 0);
    EXPECT_EQ(whole_number<int>("-17"), -17);
    EXPECT_EQ(whole_number<unsigned>("ff", 16), 255u);
    EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
    for (const char *wrong : {"", " 1", "1 ", "+1", "1.0", "0x10", "x", "18446744073709551616"})
        EXPECT_EQ(whole_number<std::uint64_t>(wrong), std::nullopt) << wrong;
    EXPECT_EQ(whole_number<unsigned>("-1"), std::nullopt);
    EXPECT_EQ(whole_number<unsigned>("4294967296"), std::nullopt);
}

TEST(numbers, are_taken_from_the_front) {
    std::string_view text = "12:ab.x";
    EXPECT_EQ(number_before<int>(text, ':'), 12);
    EXPECT_EQ(text, "ab.x");
    EXPECT_EQ(number_before<unsigned>(text, '.', 16), 0xabu);
    EXPECT_EQ(text, "x");
}

TEST(numbers, what_does_not_fit_leaves_the_text) {
    for (const std::string_view whole : {"", "12", "12;", ":12", "99999999999:"}) {
        std::string_view text = whole;
        EXPECT_EQ(number_before<int>(text, ':'), std::nullopt) << whole;
        EXPECT_EQ(text, whole);
    }
}

} // namespace
