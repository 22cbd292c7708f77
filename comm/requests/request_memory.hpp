// Memory for the targets of requests. A program that posts receives by the thousand would spend more time in
// allocation than in matching.
//
// Blocks of one size come in slabs, so that consecutive receives are adjacent in memory. Each thread caches a
// few; the surplus goes to a common list. Memory is kept for reuse until the program ends: at most as much as
// was in use at a time.
#pragma once

#include <cstddef>

namespace fult::comm::detail {

inline constexpr std::size_t request_bytes = 384; // a multiple of a cache line
static_assert(request_bytes % 64 == 0);

// Any thread; neither suspends. A block may be given back by another thread than took it.
void *take_request_memory(); // aligned to a cache line; throws std::bad_alloc
void give_request_memory(void *piece) noexcept;

} // namespace fult::comm::detail
