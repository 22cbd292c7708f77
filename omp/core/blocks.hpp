// Memory of OpenMP tasks. Blocks of some sizes are cached per thread and never returned to the system, so
// that a late reader of a freed task's words reads memory that exists.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::omp {

inline constexpr unsigned block_classes = 9;
inline constexpr std::size_t min_block = 256;
constexpr std::size_t block_size(unsigned c) noexcept { return min_block << c; }
inline constexpr std::size_t largest_block = block_size(block_classes - 1);
static_assert(largest_block == 65536);
// Blocks of a batch follow each other, so each begins a cache line.
static_assert(min_block % 64 == 0);

constexpr unsigned block_class(std::size_t size) noexcept {
    FULT_ASSERT(size != 0 && size <= largest_block, "larger data have memory of their own");
    return static_cast<unsigned>(std::bit_width((size - 1) / min_block));
}
static_assert(block_class(1) == 0 && block_class(256) == 0 && block_class(257) == 1 && block_class(513) == 2);
static_assert(block_class(largest_block) == block_classes - 1);

// Blocks that change hands at once: 64 KiB at most.
constexpr std::size_t batch_of(unsigned c) noexcept {
    return std::min<std::size_t>(64, (std::size_t{1} << 16) / block_size(c));
}

// The free blocks of one thread, in arrays: a block that is taken and given back is not touched. Surplus goes
// in batches to a depot that all threads share: a thread may end more tasks than it generates.
class block_cache {
  public:
    block_cache() noexcept {
        for (unsigned c = 0; c < block_classes; ++c)
            lists_[c].most = static_cast<unsigned>(2 * batch_of(c));
    }
    void *take(unsigned c) { // throws std::bad_alloc
        FULT_ASSERT(c < block_classes);
        list &l = lists_[c];
        if (l.count == 0) [[unlikely]]
            refill(c);
        FULT_ASSERT(l.count != 0 && l.count <= l.most);
        return l.blocks[--l.count];
    }
    bool is_empty(unsigned c) const noexcept { return lists_[c].count == 0; }
    void *take_first() noexcept {
        FULT_ASSERT(!is_empty(0), "the caller has looked");
        return lists_[0].blocks[--lists_[0].count];
    } // of the least size, if not empty
    void give(unsigned c, void *block) noexcept {
        FULT_ASSERT(c < block_classes);
        FULT_ASSERT(block && reinterpret_cast<std::uintptr_t>(block) % 64 == 0, "no block has this address");
        list &l = lists_[c];
        FULT_ASSERT(l.count == 0 || l.blocks[l.count - 1] != block, "a block is given back once");
        if (l.count == l.most) [[unlikely]]
            return_batch(c);
        l.blocks[l.count++] = block;
    }

  private:
    struct list {
        unsigned count = 0;
        unsigned most = 0; // two batches
        void *blocks[2 * batch_of(0)];
    };
    void refill(unsigned c);
    void return_batch(unsigned c) noexcept;
    list lists_[block_classes];
};

} // namespace fult::omp
