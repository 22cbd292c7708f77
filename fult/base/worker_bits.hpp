// A bit-vector with a bit for each worker, changed by any thread; and that of the workers that sleep in the
// kernel.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::detail {

class worker_bits {
  public:
    static constexpr unsigned capacity = 1024;
    static constexpr unsigned words = capacity / 64;

    bool contains(unsigned worker) const noexcept {
        return (words_[worker >> 6].load(std::memory_order_seq_cst) & bit(worker)) != 0;
    }
    // One that is set already costs a load. The order is that of the hints in fult/tasks/public_words.hpp.
    void add(unsigned worker) noexcept {
        FULT_ASSERT(worker < capacity);
        if (!contains(worker))
            words_[worker >> 6].fetch_or(bit(worker), std::memory_order_seq_cst);
    }
    // True if it was set, and this caller has cleared it.
    bool remove(unsigned worker) noexcept {
        FULT_ASSERT(worker < capacity);
        return (words_[worker >> 6].fetch_and(~bit(worker), std::memory_order_seq_cst) & bit(worker)) != 0;
    }
    // Removes the 64 workers of a word and returns them.
    std::uint64_t take_word(unsigned word) noexcept {
        return words_[word].load(std::memory_order_seq_cst) == 0
                   ? 0
                   : words_[word].exchange(0, std::memory_order_seq_cst);
    }

    // True once is(worker) is true, for those that are set, from the word of `start` on.
    template <class Is> bool any(unsigned start, const Is &is) const noexcept {
        for (unsigned i = 0; i < words; ++i) {
            const unsigned w = ((start >> 6) + i) % words;
            if (any_of(words_[w].load(std::memory_order_seq_cst), w, is))
                return true;
        }
        return false;
    }
    // The same for the bits of one word.
    template <class Is> static bool any_of(std::uint64_t bits, unsigned word, const Is &is) noexcept {
        for (; bits != 0; bits &= bits - 1)
            if (is(word * 64 + static_cast<unsigned>(std::countr_zero(bits))))
                return true;
        return false;
    }

    // The one after `worker`, cyclically; -1: there is none.
    int next(unsigned worker) const noexcept {
        FULT_ASSERT(worker < capacity);
        const std::uint64_t behind = ~(bit(worker) | (bit(worker) - 1));
        for (unsigned i = 0; i <= words; ++i) {
            const unsigned w = ((worker >> 6) + i) % words;
            const std::uint64_t bits =
                words_[w].load(std::memory_order_seq_cst) & (i == 0 ? behind : ~std::uint64_t{0});
            if (bits != 0)
                return static_cast<int>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
        }
        return -1;
    }

  private:
    static std::uint64_t bit(unsigned worker) noexcept { return std::uint64_t{1} << (worker & 63); }

    alignas(64) std::atomic<std::uint64_t> words_[words]{};
};

class sleepers {
  public:
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
