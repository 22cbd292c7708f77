#include "blocks.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace fult::omp {
namespace {

// Batches are chains of blocks, linked through their first words.
struct free_block {
    free_block *next;
    free_block *next_batch; // of the first block of a batch
};

struct depot {
    std::mutex lock;
    free_block *batches = nullptr;
};
depot depots[block_classes];
static_assert(sizeof(free_block) <= block_sizes[0]);

free_block *take_batch(unsigned c) {
    const std::lock_guard lock(depots[c].lock);
    free_block *const first = depots[c].batches;
    if (first)
        depots[c].batches = first->next_batch;
    return first;
}

} // namespace

void block_cache::refill(unsigned c) {
    list &l = lists_[c];
    FULT_ASSERT(l.count == 0, "no block is overwritten");
    if (free_block *b = take_batch(c)) {
        for (; b; b = b->next)
            l.blocks[l.count++] = b;
        FULT_ASSERT(l.count == batch, "the depot has whole batches");
        return;
    }
    const std::size_t size = block_sizes[c];
    auto *at = static_cast<std::byte *>(::operator new (size *batch, std::align_val_t{64}));
    for (unsigned i = 0; i < batch; ++i, at += size)
        l.blocks[l.count++] = at;
}

// The blocks that were given back first.
void block_cache::return_batch(unsigned c) noexcept {
    list &l = lists_[c];
    FULT_ASSERT(l.count == 2 * batch, "only a full list has a batch too many");
    free_block *chain = nullptr;
    for (unsigned i = 0; i < batch; ++i)
        chain = ::new (l.blocks[i]) free_block{chain, nullptr};
    std::copy(l.blocks + batch, l.blocks + 2 * batch, l.blocks);
    l.count = batch;
    const std::lock_guard lock(depots[c].lock);
    chain->next_batch = depots[c].batches;
    depots[c].batches = chain;
}

} // namespace fult::omp
