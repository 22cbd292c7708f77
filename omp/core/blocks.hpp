// Memory of OpenMP tasks. Blocks of three sizes are cached per thread and never returned to the system, so
// that a late reader of a freed task's words reads memory that exists.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::omp {

inline constexpr std::size_t block_sizes[] = {256, 512, 1024};
inline constexpr unsigned block_classes = sizeof block_sizes / sizeof *block_sizes;
inline constexpr std::size_t largest_block = block_sizes[block_classes - 1];

// Blocks of a batch follow each other, so each begins a cache line.
static_assert(block_sizes[0] % 64 == 0 && block_sizes[1] % 64 == 0 && block_sizes[2] % 64 == 0);
static_assert(block_sizes[0] < block_sizes[1] && block_sizes[1] < block_sizes[2] && block_classes == 3);

constexpr unsigned block_class(std::size_t size) noexcept {
    FULT_ASSERT(size <= largest_block, "larger data have memory of their own");
    return size <= block_sizes[0] ? 0 : size <= block_sizes[1] ? 1 : 2;
}

// The free blocks of one thread, in arrays: a block that is taken and given back is not touched. Surplus goes
// in batches to a depot that all threads share: a thread may end more tasks than it generates.
class block_cache {
  public:
    void *take(unsigned c) { // throws std::bad_alloc
        FULT_ASSERT(c < block_classes);
        list &l = lists_[c];
        if (l.count == 0) [[unlikely]]
            refill(c);
        FULT_ASSERT(l.count != 0 && l.count <= 2 * batch);
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
        if (l.count == 2 * batch) [[unlikely]]
            return_batch(c);
        l.blocks[l.count++] = block;
    }

  private:
    static constexpr unsigned batch = 64;
    struct list {
        unsigned count = 0;
        void *blocks[2 * batch];
    };
    void refill(unsigned c);
    void return_batch(unsigned c) noexcept;
    list lists_[block_classes];
};

} // namespace fult::omp
