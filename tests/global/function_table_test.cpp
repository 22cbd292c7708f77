#include <gtest/gtest.h>

#include "global/function_table.hpp"

namespace {

using namespace fult::global::detail;

void one(fult::global::memory &, const std::byte *, std::byte *) {}
void other(fult::global::memory &, const std::byte *, std::byte *) {}

TEST(function_table, finds_by_hash) {
    const std::uint64_t hash = register_function({"a_function", 0, 8, 4, one});
    const found_function found = find_function(hash);
    ASSERT_TRUE(found.what);
    EXPECT_STREQ(found.what->name, "a_function");
    EXPECT_EQ(found.what->hash, hash);
    EXPECT_EQ(found.what->run, one);
    EXPECT_FALSE(found.ambiguous);
    EXPECT_EQ(register_function({"a_function", 0, 8, 4, one}), hash);
    EXPECT_FALSE(find_function(hash).ambiguous) << "the same function";
    EXPECT_FALSE(find_function(hash + 1).what);
}

TEST(function_table, two_functions_of_a_name_are_ambiguous) {
    const std::uint64_t hash = register_function({"twins", 0, 0, 0, one});
    EXPECT_EQ(register_function({"twins", 0, 0, 0, other}), hash);
    EXPECT_TRUE(find_function(hash).ambiguous);
}

[[maybe_unused]] int square(int number) { return number * number; }

TEST(function_table, names_are_readable) {
    using call = remote_call<constant_function<square>, int>;
    const found_function found = find_function(call::id);
    ASSERT_TRUE(found.what) << "registered before main";
    EXPECT_EQ(found.what->arguments, sizeof(int));
    EXPECT_EQ(found.what->result, sizeof(int));
    const std::string name = readable_name(*found.what);
    EXPECT_TRUE(name.ends_with("square") || name.ends_with("square(int)")) << name;
    EXPECT_EQ(name.find("remote_call"), std::string::npos) << name;
    EXPECT_EQ(readable_name({"not mangled", 0, 0, 0, nullptr}), "not mangled");
}

} // namespace
