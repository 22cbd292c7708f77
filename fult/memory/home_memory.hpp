// The memory of a home: its layout as a whole, and how much of it is usable.
//
//   0            the worker
//   1 MiB        hints of the three kinds of public words (tasks/public_words.hpp)
//   16 MiB       the public words
//   32 MiB       the owner's words (slot_words), one per 64 slots
//   64 MiB       ready bytes, one per slot
//   2 GiB        descriptors
//
// Offsets that the fast paths use are in fult/detail/layout.hpp.
//
// Each half of a home grows: the words that are in use, with their slots, are usable, and at most as many
// again. What lies beyond is reserved, and inaccessible. Where the address space is limited, it is not even
// reserved: then the addresses in between may become those of others, and a half ends before them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult::detail {

// The most mappings that a home is of, inaccessible ones included: two for each array in each half, and what
// lies before them. The kernel limits their number.
inline constexpr std::size_t mappings_of_home = 32;
inline constexpr std::size_t worker_room = std::size_t{1} << 20; // bytes of a home for the worker

inline constexpr std::uint32_t half_slots = max_slots / 2;
inline constexpr std::uint32_t half_words = half_slots / 64;

// Number of words in each half of a home for max_tasks tasks.
inline constexpr std::uint32_t slots_in_word = std::popcount(usable_slots);
constexpr std::size_t words_for(std::size_t max_tasks) noexcept {
    return (max_tasks + slots_in_word - 1) / slots_in_word;
}
// The usable slots of the last of these words.
constexpr std::uint64_t last_slots_for(std::size_t max_tasks) noexcept {
    const std::size_t without = words_for(max_tasks) * slots_in_word - max_tasks;
    return usable_slots & (~std::uint64_t{0} >> without);
}

// The memory of the words, and of their slots, in one half of a home. Not thread-safe: of its allocator's.
class half_memory {
  public:
    half_memory() = default;
    half_memory(std::byte *home, bool upper, std::uint32_t limit, bool is_reserved) noexcept
        : home_(home), upper_(upper), is_reserved_(is_reserved), limit_(limit) {}

    // The number of words that are usable, whole cache lines of them: the first of the half.
    std::uint32_t usable() const noexcept { return usable_; }
    // Makes more words usable, up to the limit. False with errno set if the system refuses; then it is not
    // asked again for a while.
    bool grow() noexcept;
    // Of one that is not reserved.
    void unmap() noexcept;

  private:
    bool extend(std::uint32_t to) noexcept;

    std::byte *home_ = nullptr;
    bool upper_ = false;
    bool is_reserved_ = false; // the addresses are this home's
    std::uint32_t limit_ = 0;  // words
    std::uint32_t usable_ = 0;
    std::uint32_t refused_ = 0; // requests since the system has refused one
};

// A home without its worker. To be unmapped by its owner.
struct home_memory {
    std::byte *begin = nullptr;
    bool is_reserved = false; // all of it at once
    std::size_t worker_bytes = 0;
    half_memory lower, upper; // the lower half has a line of words, the upper one nothing yet
};

// Maps a home for max_tasks tasks in each half. Throws std::system_error. number, count: of the home, for the
// message.
home_memory map_home(std::size_t worker_bytes, std::size_t max_tasks, unsigned number, unsigned count);
void unmap_home(home_memory &home) noexcept;

} // namespace fult::detail
