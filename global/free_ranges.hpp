// The free parts of a heap, outside of it: bytes that other ranks write are no part of the allocator. The
// standard's pool resources and Boost's allocators keep their lists inside the memory, and none gives memory
// at a chosen place, which symmetric allocations need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace fult::global::detail {

// Not thread-safe. Offsets and sizes are in bytes. Each call takes logarithmic time in the number of ranges,
// but for allocate_high and alignments above the granule, which are linear. All that change the ranges may
// throw std::bad_alloc, and leave them as they were then.
class free_ranges {
  public:
    static constexpr std::uint64_t granule = 16; // sizes and offsets are multiples

    explicit free_ranges(std::uint64_t size);

    // The smallest range that fits, and of several the lowest.
    std::optional<std::uint64_t> allocate_low(std::uint64_t size, std::uint64_t alignment);
    // The highest range that fits, at its end.
    std::optional<std::uint64_t> allocate_high(std::uint64_t size, std::uint64_t alignment);
    // That range, if it is free.
    bool reserve(std::uint64_t offset, std::uint64_t size);
    // Merges it with free neighbours.
    void release(std::uint64_t offset, std::uint64_t size);

    std::uint64_t free() const noexcept { return free_; }
    std::uint64_t largest() const noexcept { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
    static std::uint64_t rounded(std::uint64_t size) noexcept;

  private:
    using range = std::map<std::uint64_t, std::uint64_t>::iterator; // offset, size
    // A range that is not in the lists yet: made first, so that nothing throws between two changes.
    struct entry {
        std::map<std::uint64_t, std::uint64_t> by_offset;
        std::set<std::pair<std::uint64_t, std::uint64_t>> by_size;
        entry(std::uint64_t offset, std::uint64_t size);
    };
    void add(entry &made) noexcept;
    void remove(range which) noexcept;
    void take(range which, std::uint64_t offset, std::uint64_t size);

    std::map<std::uint64_t, std::uint64_t> by_offset_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_; // size, offset: the same ranges
    std::uint64_t free_ = 0;
};

} // namespace fult::global::detail
