// A bit-vector of the workers that sleep in the kernel.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::detail {

class sleepers {
  public:
    static constexpr unsigned capacity = 1024;

    // Ordered after a signaler's OR (seq_cst): either the signaler sees the sleeper, or the sleeper's last
    // check sees the bit.
    bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; } // pairs with add
    unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }

    // Counts the worker before it can be removed: otherwise a removal in between would decrement the count
    // for another worker, which sleeps on.
    void add(unsigned worker) noexcept {
        FULT_ASSERT(worker < capacity);
        count_.fetch_add(1, std::memory_order_seq_cst); // pairs with any
        words_[worker >> 6].fetch_or(bit(worker), std::memory_order_seq_cst);
    }

    // Removes a worker. Returns true if this caller did, and therefore must wake it (or, if it is the worker
    // itself, stays awake).
    bool remove(unsigned worker) noexcept {
        if ((words_[worker >> 6].fetch_and(~bit(worker), std::memory_order_seq_cst) & bit(worker)) == 0)
            return false;
        FULT_ASSERT(count() != 0, "a sleeper is counted before it can be removed");
        count_.fetch_sub(1, std::memory_order_seq_cst);
        return true;
    }

    // Removes some worker, preferably near `start`. Returns -1 if none sleeps.
    int remove_any(unsigned start) noexcept {
        for (unsigned i = 0; i <= capacity / 64; ++i) {
            const unsigned w = ((start >> 6) + i) % (capacity / 64);
            for (std::uint64_t bits = words_[w].load(std::memory_order_seq_cst); bits != 0;
                 bits &= bits - 1) {
                const unsigned worker = w * 64 + static_cast<unsigned>(std::countr_zero(bits));
                if (remove(worker))
                    return static_cast<int>(worker);
            }
        }
        return -1;
    }

  private:
    static std::uint64_t bit(unsigned worker) noexcept { return std::uint64_t{1} << (worker & 63); }

    alignas(64) std::atomic<unsigned> count_{0};
    std::atomic<std::uint64_t> words_[capacity / 64]{};
};

} // namespace fult::detail
