#include "comm/requests/request_memory.hpp"

#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::align_val_t line_alignment{64};
constexpr unsigned in_slab = 128; // blocks; the unit of moves between threads
constexpr unsigned most_kept = 4 * in_slab;
static_assert(most_kept >= in_slab, "a cache has a chain to hand back");

// A free block.
struct piece {
    piece *next;
    piece *next_chain; // of the first block of a chain
};

struct slab {
    slab *next;
};

// Blocks that no thread caches, in chains of in_slab.
class common_pieces {
  public:
    constexpr common_pieces() noexcept = default;

    piece *take_chain() {
        {
            const std::lock_guard guard(lock_);
            if (chains_)
                return std::exchange(chains_, chains_->next_chain);
        }
        static_assert(sizeof(slab) <= 64 && request_bytes % 64 == 0);
        auto *memory = static_cast<std::byte *>(::operator new(64 + in_slab * request_bytes, line_alignment));
        piece *first = nullptr;
        for (unsigned i = in_slab; i-- > 0;) // the lowest address comes first
            first = ::new (memory + 64 + i * request_bytes) piece{first, nullptr};
        const std::lock_guard guard(lock_);
        slabs_ = ::new (memory) slab{slabs_};
        return first;
    }

    void give_chain(piece *first) noexcept {
        const std::lock_guard guard(lock_);
        first->next_chain = std::exchange(chains_, first);
    }

  private:
    fult::detail::spin_lock lock_;
    piece *chains_ = nullptr;
    slab *slabs_ = nullptr; // never freed: a request may live until the end of the program
};
constinit common_pieces common;

// A thread's cache. Trivial, so that access to it calls no function.
struct own_pieces {
    piece *first;
    unsigned count;
    enum { fresh, keeps, ended } thread;
};
thread_local constinit own_pieces own{};

void hand_back_chain(own_pieces &from, unsigned count) noexcept {
    piece *const first = from.first, *last = first;
    FULT_ASSERT(count != 0 && count <= from.count);
    for (unsigned i = 1; i < count; ++i)
        last = last->next;
    from.first = std::exchange(last->next, nullptr);
    from.count -= count;
    common.give_chain(first);
}

struct at_thread_end {
    ~at_thread_end() {
        own_pieces &mine = own;
        while (mine.count != 0)
            hand_back_chain(mine, mine.count < in_slab ? mine.count : in_slab);
        mine.thread = own_pieces::ended;
    }
};

// A thread that caches blocks gives them back when it ends.
void open(own_pieces &mine) noexcept {
    static thread_local const at_thread_end hands_back;
    (void)&hands_back;
    mine.thread = own_pieces::keeps;
}

void refill(own_pieces &mine) {
    if (mine.thread == own_pieces::fresh)
        open(mine);
    mine.first = common.take_chain();
    FULT_ASSERT(mine.count == 0 && mine.first);
    for (const piece *each = mine.first; each; each = each->next)
        ++mine.count;
}

} // namespace

// Not inlined into functions that may suspend and resume on another thread.
FULT_OPAQUE void *take_request_memory() {
    own_pieces &mine = own;
    if (!mine.first) [[unlikely]]
        refill(mine);
    FULT_ASSERT(mine.count != 0, "the count is that of the list");
    --mine.count;
    piece *const taken = mine.first, *const next = taken->next;
    mine.first = next;
    // The next block is taken soon, and then written from its beginning. Blocks are mostly consecutive, in
    // either direction: so extrapolate to those behind it. An integer, as the address may be invalid.
    const auto next_at = fult::detail::address_of(next), taken_at = fult::detail::address_of(taken);
    const std::uintptr_t later = next_at + 3 * (next_at - taken_at);
    __builtin_prefetch(fult::detail::at_address<const void>(later), 1);
    __builtin_prefetch(fult::detail::at_address<const void>(later + 64), 1);
    return taken;
}

FULT_OPAQUE void give_request_memory(void *memory) noexcept {
    own_pieces &mine = own;
    if (mine.count == most_kept) [[unlikely]]
        hand_back_chain(mine, in_slab);
    FULT_ASSERT(mine.count < most_kept);
    mine.first = ::new (memory) piece{mine.first, nullptr};
    ++mine.count;
    if (mine.thread != own_pieces::keeps) [[unlikely]] {
        if (mine.thread == own_pieces::fresh)
            open(mine);
        else
            hand_back_chain(mine, mine.count); // no other call would
    }
}

} // namespace fult::comm::detail
