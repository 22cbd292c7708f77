// Address space from the kernel: reserved at once, resident only where it is touched.
#pragma once

#include <cstddef>

namespace fult::detail {

std::size_t page_size() noexcept;

// A zeroed mapping, or null with errno set.
void *map_pages(std::size_t bytes) noexcept;
void unmap_pages(void *begin, std::size_t bytes) noexcept;

// Gives the memory back; the range reads as zeros afterwards. Guards stay.
void discard_pages(void *begin, std::size_t bytes) noexcept;

// An inaccessible range whose start is a multiple of `alignment` and of which the parts named below become
// usable; null with errno set where there is no such room.
void *reserve_aligned(std::size_t bytes, std::size_t alignment) noexcept;
bool make_usable(void *begin, std::size_t bytes) noexcept;

// Asks for huge pages where the range comes to be used; a wish that the kernel may not grant.
void prefer_huge_pages(void *begin, std::size_t bytes) noexcept;

} // namespace fult::detail
