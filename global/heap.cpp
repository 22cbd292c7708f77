#include "global/heap.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::global::detail {

heap::heap(std::size_t size, mapped_memory::use wanted)
    : memory_(size, wanted), free_(memory_.size()), symmetric_(0) {}

void heap::set_symmetric_size(std::uint64_t size) {
    FULT_ASSERT(size <= this->size() && symmetric_sizes_.empty(), "symmetric places lie in this heap, too");
    symmetric_ = free_ranges(size);
}

std::optional<std::uint64_t> heap::allocate(std::uint64_t size, std::uint64_t alignment) {
    const std::uint64_t rounded = free_ranges::rounded(size);
    const std::lock_guard guard(mutex_);
    const auto offset = free_.allocate_low(rounded, alignment);
    if (offset)
        try {
            sizes_.emplace(*offset, rounded);
        } catch (...) {
            free_.release(*offset, rounded);
            throw;
        }
    return offset;
}

bool heap::deallocate(std::uint64_t offset) {
    const std::lock_guard guard(mutex_);
    const auto found = sizes_.find(offset);
    if (found == sizes_.end())
        return false;
    free_.release(offset, found->second);
    sizes_.erase(found);
    return true;
}

std::optional<std::uint64_t> heap::choose_symmetric(std::uint64_t size, std::uint64_t alignment) {
    const std::lock_guard guard(mutex_);
    return symmetric_.allocate_high(free_ranges::rounded(size), alignment);
}

bool heap::reserve_symmetric(std::uint64_t offset, std::uint64_t size) {
    const std::uint64_t rounded = free_ranges::rounded(size);
    const std::lock_guard guard(mutex_);
    if (!free_.reserve(offset, rounded))
        return false;
    symmetric_sizes_.emplace(offset, rounded);
    return true;
}

void heap::give_up_symmetric(std::uint64_t offset, std::uint64_t size, bool reserved) {
    const std::uint64_t rounded = free_ranges::rounded(size);
    const std::lock_guard guard(mutex_);
    symmetric_.release(offset, rounded);
    if (reserved) {
        free_.release(offset, rounded);
        symmetric_sizes_.erase(offset);
    }
}

void heap::deallocate_symmetric(std::uint64_t offset) {
    const std::lock_guard guard(mutex_);
    const auto found = symmetric_sizes_.find(offset);
    FULT_ASSERT(found != symmetric_sizes_.end(), "it was allocated, and not deallocated before");
    symmetric_.release(offset, found->second);
    free_.release(offset, found->second);
    symmetric_sizes_.erase(found);
}

std::uint64_t heap::in_use() const {
    const std::lock_guard guard(mutex_);
    return size() / free_ranges::granule * free_ranges::granule - free_.free();
}
std::uint64_t heap::largest_free() const {
    const std::lock_guard guard(mutex_);
    return free_.largest();
}

} // namespace fult::global::detail
