// The memory of a home: its layout as a whole, and how much of it a number of tasks needs.
//
//   0            the worker
//   1 MiB        hints of the three kinds of public words (tasks/public_words.hpp)
//   16 MiB       the public words
//   32 MiB       the owner's words (slot_words), one per 64 slots
//   64 MiB       ready bytes, one per slot
//   2 GiB        descriptors
//
// Offsets that the fast paths use are in fult/detail/layout.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult::detail {

inline constexpr std::size_t worker_room = std::size_t{1} << 20; // bytes of a home for the worker

// Number of words in each half of a home for max_tasks tasks.
inline constexpr std::size_t slots_in_word = std::popcount(usable_slots);
constexpr std::size_t words_for(std::size_t max_tasks) noexcept {
    return (max_tasks + slots_in_word - 1) / slots_in_word;
}
// The usable slots of the last of these words.
constexpr std::uint64_t last_slots_for(std::size_t max_tasks) noexcept {
    const std::size_t without = words_for(max_tasks) * slots_in_word - max_tasks;
    return usable_slots & (~std::uint64_t{0} >> without);
}

// Reserves a home, and makes usable what max_tasks tasks need. Throws std::system_error. number, count: of
// the home, for the message.
std::byte *map_home(std::size_t max_tasks, unsigned number, unsigned count);
void unmap_home(void *home) noexcept;

} // namespace fult::detail
