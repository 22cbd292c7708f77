// Which workers sleep in the kernel: a bit-vector.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

namespace fult::detail {

class sleepers {
  public:
    static constexpr unsigned capacity = 1024;

    // Ordered after a signaler's OR (seq_cst), so that either it sees the sleeper or the sleeper's last look
    // sees the bit.
    bool any() const noexcept { return count_.load(std::memory_order_seq_cst) != 0; } // pairs with add
    unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }

    // Counted before it can be taken out: else who takes it out in between makes the count forget another
    // one, who sleeps on.
    void add(unsigned worker) noexcept {
        count_.fetch_add(1, std::memory_order_seq_cst); // pairs with any
        words_[worker >> 6].fetch_or(bit(worker), std::memory_order_seq_cst);
    }

    // Takes a worker out; whether this caller did, and so is the one that wakes it (or, itself, stays awake).
    bool remove(unsigned worker) noexcept {
        if ((words_[worker >> 6].fetch_and(~bit(worker), std::memory_order_seq_cst) & bit(worker)) == 0)
            return false;
        count_.fetch_sub(1, std::memory_order_seq_cst);
        return true;
    }

    // Takes some worker out, one near `start` first; -1 if none sleeps.
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
