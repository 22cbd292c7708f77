// Address space from the kernel: reserved at once, usable in parts, resident only where touched. Where the
// program has locked its memory (mlockall), all that is usable is resident: so nothing is that is not in use.
#pragma once

#include <cstddef>

namespace fult::detail {

std::size_t page_size() noexcept;

// Returns a zeroed mapping, or nullptr with errno set.
void *map_pages(std::size_t bytes) noexcept;
// The same at this address, a page's. False with errno set; EEXIST: it is in use.
bool map_pages_at(void *begin, std::size_t bytes) noexcept;
void unmap_pages(void *begin, std::size_t bytes) noexcept;

// Gives the memory back; the range reads as zeros afterwards, unless it is locked. Guards are kept.
void discard_pages(void *begin, std::size_t bytes) noexcept;

// Reserves an inaccessible range aligned to `alignment`, at `preferred` if that is aligned and free;
// make_usable makes parts of it accessible. Returns nullptr with errno set if there is no such range.
void *reserve_aligned(std::size_t bytes, std::size_t alignment, void *preferred = nullptr) noexcept;
// The same of any alignment.
void *reserve_pages(std::size_t bytes) noexcept;
bool make_usable(void *begin, std::size_t bytes) noexcept;

// The most that the process may reserve (`ulimit -v`); the largest number without such a limit.
std::size_t address_space_limit() noexcept;
inline bool has_address_space_limit() noexcept { return address_space_limit() != ~std::size_t{0}; }

// Advises the kernel to use huge pages for the range.
void prefer_huge_pages(void *begin, std::size_t bytes) noexcept;

} // namespace fult::detail
