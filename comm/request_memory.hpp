// Memory for what requests point to. A program that posts receives by the thousand would spend more time on
// asking for memory than on matching them.
//
// Pieces of one size come in slabs, so that receives posted one after the other lie one after the other. Each
// thread keeps a few for itself; what it has too many of goes to everybody's. Memory is kept for the next
// ones until the program ends: as much as was in use at a time, at most.
#pragma once

#include <cstddef>

namespace fult::comm::detail {

inline constexpr std::size_t request_bytes = 384; // a multiple of a cache line

// Any thread; neither suspends. A piece may be given back by another thread than took it.
void *take_request_memory(); // aligned to a cache line; throws std::bad_alloc
void give_request_memory(void *piece) noexcept;

} // namespace fult::comm::detail
