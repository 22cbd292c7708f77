// The heap of a rank: memory that all ranks access, and what is allocated in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "global/free_ranges.hpp"
#include "global/mapped_memory.hpp"

namespace fult::global::detail {

// Objects of one rank grow from the low end. Symmetric allocations, which have the same offset on all ranks,
// grow from the high end: each rank makes the same ones in the same order, so `symmetric_` is the same
// everywhere, and each chosen place must then be free in the heap itself. Thread-safe; never suspends.
class heap {
  public:
    // Empty if there is no memory.
    explicit heap(std::size_t size, mapped_memory::use wanted = mapped_memory::use::by_this_process);

    // By which other processes of this host find the memory, until all have.
    memory_name name() const noexcept { return memory_.name(); }
    void end_name() noexcept { memory_.end_name(); }
    // Seen by those that have mapped it.
    void end() noexcept { memory_.end(); }
    std::byte *begin() const noexcept { return memory_.begin(); }
    std::size_t size() const noexcept { return memory_.size(); }
    // Once, with the size of the smallest heap: symmetric places lie in all of them.
    void set_symmetric_size(std::uint64_t size);

    // Nothing if no range is large enough. May throw std::bad_alloc.
    std::optional<std::uint64_t> allocate(std::uint64_t size, std::uint64_t alignment);
    // False if no object begins there.
    bool deallocate(std::uint64_t offset);

    // The place that all ranks choose; nothing: none is large enough, on any rank.
    std::optional<std::uint64_t> choose_symmetric(std::uint64_t size, std::uint64_t alignment);
    // False if this rank has used it for other objects.
    bool reserve_symmetric(std::uint64_t offset, std::uint64_t size);
    // On all ranks, if it was not reserved on all.
    void give_up_symmetric(std::uint64_t offset, std::uint64_t size, bool reserved);
    void deallocate_symmetric(std::uint64_t offset);

    std::uint64_t in_use() const;
    std::uint64_t largest_free() const;

  private:
    mapped_memory memory_;
    mutable std::mutex mutex_;
    free_ranges free_;
    free_ranges symmetric_;
    std::unordered_map<std::uint64_t, std::uint64_t> sizes_;           // of the objects, by offset
    std::unordered_map<std::uint64_t, std::uint64_t> symmetric_sizes_; // of the symmetric ones
};

} // namespace fult::global::detail
