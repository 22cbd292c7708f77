#include "entry_lock.hpp"

#include <sched.h>
#include <utility>

#include <fult/detail/address.hpp>

#include "operation.hpp"

namespace fult::mpi {
namespace {

using fult::detail::address_of;

operation *queued_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<operation *>(word & ~std::uintptr_t{1});
}

// The newest is first in the queue.
operation *oldest_first(operation *newest) noexcept {
    operation *first = nullptr;
    while (newest) {
        operation *const older = std::exchange(newest->next, first);
        first = newest;
        newest = older;
    }
    return first;
}

} // namespace

static_assert(alignof(operation) > 1, "the lowest bit of its address is that of the lock");

bool entry_lock::lock_or_push(operation &op) noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    for (;;)
        if (seen == unlocked) {
            if (word_.compare_exchange_weak(seen, locked,
                                            std::memory_order_acquire, // pairs with unlock_or_take
                                            std::memory_order_relaxed)) {
                own();
                return true;
            }
        } else {
            op.next = queued_in(seen);
            if (word_.compare_exchange_weak(seen, address_of(&op) | locked,
                                            std::memory_order_release, // pairs with unlock_or_take
                                            std::memory_order_relaxed))
                return false;
        }
}

void entry_lock::lock_slowly() noexcept {
    constexpr unsigned looks = 64; // before the processor is given up: the holder may need it
    waiting_.fetch_add(1, std::memory_order_relaxed);
    for (unsigned i = 1; !try_lock(); ++i)
        if (i % looks == 0)
            ::sched_yield();
        else
            fult::detail::cpu_relax();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
}

operation *entry_lock::unlock_or_take() noexcept {
    FULT_ASSERT(is_held_here(), "the holder unlocks");
    owner_.store(nullptr, std::memory_order_relaxed);
    std::uintptr_t seen = locked;
    if (word_.compare_exchange_strong(seen, unlocked, std::memory_order_release, // pairs with try_lock
                                      std::memory_order_relaxed))
        return nullptr;
    own();
    return oldest_first(
        queued_in(word_.exchange(locked, std::memory_order_acquire))); // pairs with lock_or_push
}

} // namespace fult::mpi
