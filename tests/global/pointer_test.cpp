#include <cstddef>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <unordered_set>
#include <vector>

#include <fult/global/pointer.hpp>

namespace {

using fult::global::global_ptr;

struct pair {
    int first;
    double second;
};

TEST(global_ptr, null) {
    constexpr global_ptr<int> null;
    EXPECT_FALSE(null);
    EXPECT_EQ(null.rank(), -1);
    EXPECT_EQ(null, nullptr);
    EXPECT_EQ(null.to_string(), "null");
    std::uint64_t bytes = 1;
    std::memcpy(&bytes, &null, sizeof null);
    EXPECT_EQ(bytes, 0U) << "zero bytes are null";
}

TEST(global_ptr, holds_any_place) {
    for (const int rank : {0, 1, 77, fult::global::max_ranks - 1})
        for (const std::uint64_t offset :
             {std::uint64_t{0}, std::uint64_t{64}, fult::global::max_heap_bytes - 1}) {
            const global_ptr<char> p(rank, offset);
            EXPECT_TRUE(p);
            EXPECT_EQ(p.rank(), rank);
            EXPECT_EQ(p.offset(), offset);
        }
}

TEST(global_ptr, arithmetic_is_in_elements) {
    const global_ptr<double> p(3, 800);
    EXPECT_EQ((p + 4).offset(), 832U);
    EXPECT_EQ((4 + p).offset(), 832U);
    EXPECT_EQ((p - 100).offset(), 0U);
    EXPECT_EQ((p + 4) - p, 4);
    EXPECT_EQ(p - (p + 4), -4);
    global_ptr<double> moved = p;
    EXPECT_EQ((moved++).offset(), 800U);
    EXPECT_EQ((++moved).offset(), 816U);
    EXPECT_EQ((moved--).offset(), 816U);
    EXPECT_EQ((--moved).offset(), 800U);
    EXPECT_EQ(moved.rank(), 3);
    EXPECT_EQ((global_ptr<pair>(1, 32).field<double>(offsetof(pair, second)).offset()),
              32 + offsetof(pair, second));
}

TEST(global_ptr, is_ordered_by_rank_and_offset) {
    const global_ptr<int> null, a(0, 0), b(0, 4), c(1, 0);
    const std::set<global_ptr<int>> sorted{c, b, null, a};
    EXPECT_EQ(std::vector(sorted.begin(), sorted.end()), (std::vector{null, a, b, c}));
    const std::unordered_set<global_ptr<int>> hashed{a, b, c, a};
    EXPECT_EQ(hashed.size(), 3U);
}

TEST(global_ptr, converts_to_constant_and_prints) {
    const global_ptr<const int> constant = global_ptr<int>(2, 64);
    std::ostringstream out;
    out << constant;
    EXPECT_EQ(out.str(), "2:0x40");
    static_assert(!std::is_convertible_v<global_ptr<const int>, global_ptr<int>>);
    static_assert(!std::is_convertible_v<global_ptr<int>, global_ptr<double>>);
}

// A node of a list contains a pointer to nodes.
struct node {
    global_ptr<node> next;
    int value;
};
static_assert(std::is_trivially_copyable_v<node>);

} // namespace
