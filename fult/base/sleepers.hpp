// A bit-vector of the workers that sleep in the kernel.
#pragma once

#include <atomic>

#include <fult/detail/assertion.hpp>

#include "worker_bits.hpp"

namespace fult::detail {

class sleepers {
  public:
    static constexpr unsigned capacity = worker_bits::capacity;

    // Ordered after a signaler's OR (seq_cst): either the signaler sees the sleeper, or the sleeper's last
    // check sees the bit.
    bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; } // pairs with add
    unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }

    // Counts the worker before it can be removed: otherwise a removal in between would decrement the count
    // for another worker, which sleeps on.
    void add(unsigned worker) noexcept {
        count_.fetch_add(1, std::memory_order_seq_cst); // pairs with any
        bits_.add(worker);
    }

    // Removes a worker. Returns true if this caller did, and therefore must wake it (or, if it is the worker
    // itself, stays awake).
    bool remove(unsigned worker) noexcept {
        if (!bits_.remove(worker))
            return false;
        FULT_ASSERT(count() != 0, "a sleeper is counted before it can be removed");
        count_.fetch_sub(1, std::memory_order_seq_cst);
        return true;
    }

    // Removes some worker, preferably near `start`. Returns -1 if none sleeps.
    int remove_any(unsigned start) noexcept {
        int removed = -1;
        bits_.any(start, [&](unsigned worker) {
            removed = remove(worker) ? static_cast<int>(worker) : -1;
            return removed >= 0;
        });
        return removed;
    }

  private:
    alignas(64) std::atomic<unsigned> count_{0};
    worker_bits bits_;
};

} // namespace fult::detail
