#include <cerrno>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>

#include "fult/memory/virtual_memory.hpp"
#include "tests/support/scale.hpp"

namespace {

using namespace fult::detail;

TEST(virtual_memory, mapped_pages_are_zero_and_writable) {
    const std::size_t bytes = 3 * page_size();
    auto *p = static_cast<unsigned char *>(map_pages(bytes));
    ASSERT_NE(p, nullptr);
    for (std::size_t i = 0; i < bytes; ++i)
        ASSERT_EQ(p[i], 0);
    std::memset(p, 255, bytes);
    discard_pages(p, bytes);
    EXPECT_EQ(p[0] + p[bytes - 1], 0) << "a discarded page is a new one";
    unmap_pages(p, bytes);
}

TEST(virtual_memory, what_is_too_much_is_null) {
    const int expected = fult::testing::under_valgrind() ? EINVAL : ENOMEM; // of Valgrind's own mmap
    EXPECT_EQ(map_pages(std::size_t{1} << 60), nullptr);
    EXPECT_EQ(errno, expected);
    EXPECT_EQ(reserve_aligned(std::size_t{1} << 60, 4096), nullptr);
    EXPECT_EQ(errno, expected);
}

TEST(virtual_memory, pages_at_an_address_are_there_or_not_at_all) {
    auto *free = static_cast<char *>(reserve_pages(4 * page_size()));
    ASSERT_NE(free, nullptr);
    EXPECT_DEATH(*const_cast<volatile char *>(free) = 1, "") << "reserved is not usable";
    unmap_pages(free + page_size(), 2 * page_size());
    EXPECT_TRUE(map_pages_at(free + page_size(), page_size()));
    free[page_size()] = 1;
    errno = 0;
    EXPECT_FALSE(map_pages_at(free + page_size(), 2 * page_size()));
    EXPECT_EQ(errno, EEXIST);
    EXPECT_EQ(free[page_size()], 1);
    unmap_pages(free, 4 * page_size());
}

TEST(virtual_memory, reserved_ranges_are_aligned_and_usable_in_part) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    for (int i = 0; i < 4; ++i) {
        auto *p = static_cast<char *>(reserve_aligned(bytes, bytes));
        ASSERT_NE(p, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % bytes, 0u);
        ASSERT_TRUE(make_usable(p + bytes / 2, page_size()));
        p[bytes / 2] = 1;
        EXPECT_DEATH(*const_cast<volatile char *>(p) = 1, "");
        unmap_pages(p, bytes);
    }
}

TEST(virtual_memory, a_range_lies_where_it_is_preferred_if_that_is_aligned_and_free) {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    void *first = reserve_aligned(bytes, bytes);
    ASSERT_NE(first, nullptr);
    unmap_pages(first, bytes);
    EXPECT_EQ(reserve_aligned(bytes, bytes, first), first);
    auto *second = static_cast<char *>(reserve_aligned(bytes, bytes, first));
    ASSERT_NE(second, nullptr);
    EXPECT_NE(second, first) << "this address is in use";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % bytes, 0u);
    unmap_pages(second, bytes);
    auto *third = static_cast<char *>(reserve_aligned(bytes, bytes, second + page_size()));
    ASSERT_NE(third, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(third) % bytes, 0u);
    unmap_pages(third, bytes);
    unmap_pages(first, bytes);
}

} // namespace
