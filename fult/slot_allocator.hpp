// Which slots of a range of a home's words are free: taken in runs, the lowest run first, so that indices
// stay dense and the newest task is the highest set bit. Not thread-safe: a worker owns that of its lower
// half, a lock guards that of the upper half.
#pragma once

#include <cstdint>

#include "bit_tree.hpp"
#include "public_words.hpp"

namespace fult::detail {

inline constexpr std::uint32_t half_slots = max_slots / 2;
inline constexpr std::uint32_t half_words = half_slots / 64;

class slot_allocator {
  public:
    // Words [first, first + limit) of the home, of the last one those slots; none is used yet. The run that
    // slots are taken from lies where the fast path of the owner sees it, or anywhere else.
    void open(worker_hot *home, slot_run *run, std::uint32_t first, std::uint32_t limit,
              std::uint64_t last_slots = usable_slots) noexcept;

    // A low free slot's descriptor, or null at the limit.
    task *take() noexcept;

    // Frees a slot of this range. Whether the run is in another word now.
    bool release(std::uint32_t slot) noexcept;

    // The same for a slot that is not the one before the run, in two steps. Whether `follow` is to be called
    // then: so many slots are free above this one that the run should be there.
    FULT_ALWAYS_INLINE bool release_elsewhere(std::uint32_t slot) noexcept {
        std::uint64_t &word = words_[slot >> 6].free;
        const std::uint64_t free = word;
        word = free | bit_of(slot);
        if (free == 0) [[unlikely]]
            note_free(slot >> 6);
        return ((free >> (slot & 63)) & next_above) == next_above;
    }
    // Who ends in the order opposite to that of beginning comes back to where an earlier word ended: the run
    // follows, so that the next ones go the fast way. Whether it did; only downwards, so that indices stay
    // dense.
    bool follow(std::uint32_t slot) noexcept;

    // The word that the run is in.
    std::uint32_t current_word() const noexcept { return cur_; }

    // Whether the next slot begins a new run, and a quarter of all slots is taken: the lowest ones are taken
    // first.
    bool is_far_ahead() const noexcept { return run_->next == run_->end && cur_ - first_ >= limit_ / 4; }

    // Gives the memory of descriptors back that lie free in whole words, but for the lowest few thousand.
    void trim() noexcept;

    // Slots that are taken. Exact only while nobody takes or frees any.
    std::uint64_t taken() const noexcept;

    // Those whose tasks have ended and were not joined; under the same condition.
    std::uint64_t ended() const noexcept;

  private:
    // So many slots above one are free before the run follows, lest it goes to and fro where a program stands
    // at the border of two words. As bits above that one.
    static constexpr std::uint64_t next_above = 0xfe;

    std::uint64_t slots_of(std::uint32_t word) const noexcept {
        return word == first_ + limit_ - 1 ? last_slots_ : usable_slots;
    }
    bool refill() noexcept;
    bool drain() noexcept;
    void start_run(std::uint32_t word, int first) noexcept;
    bool is_untouched() const noexcept;
    void note_free(std::uint32_t word) noexcept;
    void put_free(std::uint32_t word, std::uint64_t slots) noexcept;

    slot_word *words_ = nullptr;
    worker_hot *home_ = nullptr;
    slot_run *run_ = nullptr;
    std::uint32_t first_ = 0;
    std::uint32_t limit_ = 0;
    std::uint64_t last_slots_ = usable_slots;
    std::uint32_t used_ = 0; // words that were ever in use
    std::uint32_t cur_ = 0;
    std::uint32_t touched_ = 0; // behind the last word whose descriptors may be resident; from first_
    bit_tree<half_words> free_; // words with free bits; indices from first_
};

} // namespace fult::detail
