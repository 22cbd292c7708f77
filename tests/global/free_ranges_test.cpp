// The free parts of a heap, against an array that has a flag for each granule.
#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "global/free_ranges.hpp"
#include "tests/random/draw.hpp"

namespace {

using fult::global::detail::free_ranges;

constexpr std::uint64_t granule = free_ranges::granule;

TEST(free_ranges, an_empty_heap_has_no_room) {
    free_ranges none(0);
    EXPECT_EQ(none.free(), 0U);
    EXPECT_EQ(none.largest(), 0U);
    EXPECT_FALSE(none.allocate_low(granule, 1));
    EXPECT_FALSE(none.allocate_high(granule, 1));
    EXPECT_FALSE(none.reserve(0, granule));
}

TEST(free_ranges, low_and_high_ends) {
    free_ranges ranges(1000); // 62 granules
    EXPECT_EQ(ranges.free(), 992U);
    EXPECT_EQ(ranges.allocate_low(32, 1), 0U);
    EXPECT_EQ(ranges.allocate_low(16, 64), 64U);
    EXPECT_EQ(ranges.allocate_low(16, 16), 32U) << "the smallest range that fits";
    EXPECT_EQ(ranges.allocate_high(32, 1), 960U);
    EXPECT_EQ(ranges.allocate_high(32, 256), 768U);
    EXPECT_EQ(ranges.allocate_high(128, 16), 832U);
}

TEST(free_ranges, neighbours_merge) {
    free_ranges ranges(160);
    for (std::uint64_t offset = 0; offset < 160; offset += 16)
        ASSERT_EQ(ranges.allocate_low(16, 1), offset);
    EXPECT_FALSE(ranges.allocate_low(16, 1));
    for (const std::uint64_t offset : {32, 64, 48, 0, 16}) // alone, alone, between two, alone, between two
        ranges.release(offset, 16);
    EXPECT_EQ(ranges.largest(), 80U);
    EXPECT_EQ(ranges.allocate_low(80, 1), 0U);
}

TEST(free_ranges, reserves_what_is_free) {
    free_ranges ranges(160);
    EXPECT_TRUE(ranges.reserve(48, 32));
    EXPECT_FALSE(ranges.reserve(64, 32)) << "its first half is not free";
    EXPECT_FALSE(ranges.reserve(32, 32)) << "its second half is not free";
    EXPECT_FALSE(ranges.reserve(144, 32)) << "its second half does not exist";
    EXPECT_TRUE(ranges.reserve(80, 80));
    EXPECT_TRUE(ranges.reserve(0, 48));
    EXPECT_EQ(ranges.free(), 0U);
}

// Of the flags: the largest run that is free.
std::uint64_t largest_run(const std::vector<bool> &used) {
    std::uint64_t largest = 0, run = 0;
    for (const bool each : used) {
        run = each ? 0 : run + 1;
        largest = std::max(largest, run);
    }
    return largest * granule;
}

class flags {
  public:
    explicit flags(std::size_t granules) : used_(granules) {}
    void set(std::uint64_t offset, std::uint64_t size, bool to) {
        ASSERT_EQ(offset % granule, 0U);
        ASSERT_LE(offset + size, used_.size() * granule);
        for (std::uint64_t i = offset / granule; i < (offset + size) / granule; ++i) {
            ASSERT_NE(used_[i], to) << "granule " << i;
            used_[i] = to;
        }
    }
    bool any(std::uint64_t offset, std::uint64_t size) const {
        for (std::uint64_t i = offset / granule; i < (offset + size) / granule; ++i)
            if (i >= used_.size() || used_[i])
                return true;
        return false;
    }
    const std::vector<bool> &all() const { return used_; }

  private:
    std::vector<bool> used_;
};

TEST(free_ranges, any_calls_as_the_flags_say) {
    random_programs::draw draw(3);
    for (int round = 0; round < 20; ++round) {
        const std::size_t granules = draw.between(1, 300);
        free_ranges ranges(granules * granule);
        flags oracle(granules);
        std::map<std::uint64_t, std::uint64_t> live;
        for (int step = 0; step < 400; ++step) {
            const std::uint64_t size = draw.between(1, draw.one_in(8) ? 100 : 8) * granule;
            const std::uint64_t alignment = draw.one_of({1, 16, 16, 64, 256});
            std::optional<std::uint64_t> got;
            switch (draw.below(5)) {
            case 0:
                got = ranges.allocate_high(size, alignment);
                break;
            case 1:
                got = draw.below(static_cast<unsigned>(granules)) * granule;
                ASSERT_EQ(ranges.reserve(*got, size), !oracle.any(*got, size));
                if (oracle.any(*got, size))
                    continue;
                break;
            case 2:
                got = ranges.allocate_low(size, alignment);
                break;
            default:
                if (live.empty())
                    continue;
                auto which = std::next(live.begin(), draw.below(static_cast<unsigned>(live.size())));
                ranges.release(which->first, which->second);
                oracle.set(which->first, which->second, false);
                live.erase(which);
                continue;
            }
            if (!got) {
                if (alignment <= granule) {
                    ASSERT_LT(largest_run(oracle.all()), size) << "there was room";
                }
                continue;
            }
            oracle.set(*got, size, true);
            ASSERT_FALSE(HasFatalFailure());
            live[*got] = size;
            ASSERT_EQ(ranges.largest(), largest_run(oracle.all()));
        }
        for (const auto &[offset, size] : live)
            ranges.release(offset, size);
        EXPECT_EQ(ranges.largest(), granules * granule);
        EXPECT_EQ(ranges.free(), granules * granule);
    }
}

} // namespace
