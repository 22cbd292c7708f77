// Memory of OpenMP tasks. Blocks of three sizes are cached per thread and never returned to the system, so
// that a late reader of a freed task's words reads memory that exists.
#pragma once

#include <cstddef>

namespace fult::omp {

inline constexpr std::size_t block_sizes[] = {256, 512, 1024};
inline constexpr unsigned block_classes = sizeof block_sizes / sizeof *block_sizes;
inline constexpr std::size_t largest_block = block_sizes[block_classes - 1];

constexpr unsigned block_class(std::size_t size) noexcept {
    return size <= block_sizes[0] ? 0 : size <= block_sizes[1] ? 1 : 2;
}

// The free blocks of one thread, in arrays: a block that is taken and given back is not touched. Surplus goes
// in batches to a depot that all threads share: a thread may end more tasks than it generates.
class block_cache {
  public:
    void *take(unsigned c) { // throws std::bad_alloc
        list &l = lists_[c];
        if (l.count == 0) [[unlikely]]
            refill(c);
        return l.blocks[--l.count];
    }
    bool is_empty(unsigned c) const noexcept { return lists_[c].count == 0; }
    void *take_first() noexcept {
        return lists_[0].blocks[--lists_[0].count];
    } // of the least size, if not empty
    void give(unsigned c, void *block) noexcept {
        list &l = lists_[c];
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
