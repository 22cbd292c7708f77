#include "blocks.hpp"

#include <algorithm>
#include <mutex>
#include <new>

#include "fork.hpp"

namespace fult::omp {
namespace {

// Batches are chains of blocks, linked through their first words.
struct free_block {
    free_block *next;
    free_block *next_batch; // of the first block of a batch
};

free_block *depots[block_classes]; // batches
std::mutex &mutex_of_depot(unsigned c) noexcept {
    FULT_ASSERT(c < block_classes);
    return mutex_of(static_cast<shared_state>(static_cast<unsigned>(shared_state::blocks) + c));
}
static_assert(sizeof(free_block) <= min_block);

free_block *take_batch(unsigned c) {
    const std::lock_guard lock(mutex_of_depot(c));
    free_block *const first = depots[c];
    if (first)
        depots[c] = first->next_batch;
    return first;
}

} // namespace

void block_cache::refill(unsigned c) {
    list &l = lists_[c];
    FULT_ASSERT(l.count == 0, "no block is overwritten");
    if (free_block *b = take_batch(c)) {
        for (; b; b = b->next)
            l.blocks[l.count++] = b;
        FULT_ASSERT(l.count == batch_of(c), "the depot has whole batches");
        return;
    }
    const std::size_t size = block_size(c), batch = batch_of(c);
    auto *at = static_cast<std::byte *>(::operator new (size *batch, std::align_val_t{64}));
    for (std::size_t i = 0; i < batch; ++i, at += size)
        l.blocks[l.count++] = at;
}

// The blocks that were given back first.
void block_cache::return_batch(unsigned c) noexcept {
    list &l = lists_[c];
    FULT_ASSERT(l.count == l.most, "only a full list has a batch too many");
    const unsigned batch = l.most / 2;
    free_block *chain = nullptr;
    for (unsigned i = 0; i < batch; ++i)
        chain = ::new (l.blocks[i]) free_block{chain, nullptr};
    std::copy(l.blocks + batch, l.blocks + 2 * batch, l.blocks);
    l.count = batch;
    const std::lock_guard lock(mutex_of_depot(c));
    chain->next_batch = depots[c];
    depots[c] = chain;
}

} // namespace fult::omp
