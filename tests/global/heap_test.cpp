#include <gtest/gtest.h>

#include "global/heap.hpp"

namespace {

using fult::global::detail::heap;

TEST(heap, memory_is_zero_and_aligned) {
    heap own(1 << 20);
    ASSERT_EQ(own.size(), 1U << 20);
    const auto at = own.allocate(1000, 256);
    ASSERT_TRUE(at);
    EXPECT_EQ(*at % 256, 0U);
    for (std::size_t i = 0; i < 1000; ++i)
        ASSERT_EQ(own.begin()[*at + i], std::byte{0});
    EXPECT_EQ(own.in_use(), 1008U);
    EXPECT_TRUE(own.deallocate(*at));
    EXPECT_EQ(own.in_use(), 0U);
    EXPECT_EQ(own.largest_free(), 1U << 20);
}

TEST(heap, freed_memory_is_used_again) {
    heap own(4096);
    for (int round = 0; round < 100; ++round) {
        const auto first = own.allocate(3000, 16), second = own.allocate(1000, 16);
        ASSERT_TRUE(first && second);
        ASSERT_FALSE(own.allocate(500, 16));
        ASSERT_TRUE(own.deallocate(*first));
        ASSERT_TRUE(own.deallocate(*second));
    }
}

TEST(heap, objects_of_no_bytes_have_places_of_their_own) {
    heap own(4096);
    EXPECT_NE(own.allocate(0, 1), own.allocate(0, 1));
}

TEST(heap, what_was_not_allocated_is_not_freed) {
    heap own(4096);
    const auto at = own.allocate(64, 16);
    ASSERT_TRUE(at);
    EXPECT_FALSE(own.deallocate(*at + 16));
    EXPECT_TRUE(own.deallocate(*at));
    EXPECT_FALSE(own.deallocate(*at)) << "twice";
}

TEST(heap, symmetric_places_do_not_depend_on_objects) {
    heap one(8192), other(8192);
    for (heap *each : {&one, &other})
        each->set_symmetric_size(8192);
    ASSERT_TRUE(one.allocate(1000, 16));
    const auto here = one.choose_symmetric(512, 64), there = other.choose_symmetric(512, 64);
    ASSERT_TRUE(here && there);
    EXPECT_EQ(*here, *there);
    EXPECT_TRUE(one.reserve_symmetric(*here, 512));
    EXPECT_TRUE(other.reserve_symmetric(*there, 512));
    EXPECT_FALSE(one.deallocate(*here)) << "no object of this rank alone";
    one.deallocate_symmetric(*here);
    EXPECT_EQ(one.in_use(), 1008U);
    EXPECT_EQ(one.choose_symmetric(512, 64), here);
}

TEST(heap, symmetric_places_that_are_used_are_given_up) {
    heap own(8192);
    own.set_symmetric_size(8192);
    ASSERT_TRUE(own.allocate(8000, 16));
    const auto at = own.choose_symmetric(512, 16);
    ASSERT_TRUE(at);
    EXPECT_FALSE(own.reserve_symmetric(*at, 512)) << "an object lies there";
    own.give_up_symmetric(*at, 512, false);
    EXPECT_EQ(own.choose_symmetric(512, 16), at);
}

TEST(heap, too_large_for_the_system_is_empty) {
    heap own(std::size_t{1} << 62);
    EXPECT_EQ(own.size(), 0U);
    EXPECT_FALSE(own.allocate(16, 16));
}

} // namespace
