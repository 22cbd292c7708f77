// Address space from the kernel: reserved at once, resident only where touched.
#pragma once

#include <cstddef>

namespace fult::detail {

std::size_t page_size() noexcept;

// Returns a zeroed mapping, or nullptr with errno set.
void *map_pages(std::size_t bytes) noexcept;
void unmap_pages(void *begin, std::size_t bytes) noexcept;

// Gives the memory back; the range reads as zeros afterwards. Guards are kept.
void discard_pages(void *begin, std::size_t bytes) noexcept;

// Reserves an inaccessible range aligned to `alignment`, at `preferred` if that is aligned and free;
// make_usable makes parts of it accessible. Returns nullptr with errno set if there is no such range.
void *reserve_aligned(std::size_t bytes, std::size_t alignment, void *preferred = nullptr) noexcept;
bool make_usable(void *begin, std::size_t bytes) noexcept;

// Advises the kernel to use huge pages for the range.
void prefer_huge_pages(void *begin, std::size_t bytes) noexcept;

} // namespace fult::detail
