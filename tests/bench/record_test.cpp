// The line of JSON that a benchmark writes: any text is escaped, and what is no number is null.
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "bench/common/record.hpp"

#include <nlohmann/json.hpp>

namespace {

using bench::record;
using nlohmann::json;

TEST(record, keeps_the_order_of_its_fields) {
    record out;
    out.add("zebra", "a").add("ape", 1).add("mouse", 2.5);
    EXPECT_EQ(out.text(), R"({"zebra":"a","ape":1,"mouse":2.5})");
    EXPECT_EQ(record().text(), "{}");
}

TEST(record, escapes_any_text) {
    const std::string texts[] = {
        "plain", "a \"quoted\" word", "back\\slash", "two\nlines\ttab", std::string("nul\0", 4), "\x01\x1f",
        "ü"};
    for (const std::string &text : texts) {
        record out;
        out.add(text, text);
        const json read = json::parse(out.text());
        EXPECT_EQ(read.at(text).get<std::string>(), text);
        EXPECT_EQ(out.text().find('\n'), std::string::npos) << "a record is one line";
    }
}

TEST(record, replaces_bytes_that_are_no_text) {
    record out;
    out.add("case", "\xff");
    EXPECT_EQ(json::parse(out.text()).at("case").get<std::string>(), "\xef\xbf\xbd");
}

TEST(record, has_null_for_what_is_no_number) {
    record out;
    out.add("nan", std::nan("")).add("infinity", std::numeric_limits<double>::infinity());
    EXPECT_EQ(out.text(), R"({"nan":null,"infinity":null})");
}

TEST(record, keeps_all_digits) {
    record out;
    out.add("least", std::numeric_limits<std::int64_t>::min());
    out.add("most", std::numeric_limits<std::uint64_t>::max());
    out.add("third", 1.0 / 3);
    const json read = json::parse(out.text());
    EXPECT_EQ(read.at("least").get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(read.at("most").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(read.at("third").get<double>(), 1.0 / 3);
}

} // namespace
