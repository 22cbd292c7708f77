// Allocates the slots in a range of a home's words. Slots are taken in runs, the lowest run first, so that
// indices stay dense and the newest task has the highest set bit. Not thread-safe: a worker owns the
// allocator of its lower half, a lock guards that of the upper half.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fult/base/bit_tree.hpp"
#include "fult/base/leak_roots.hpp"
#include "fult/tasks/public_words.hpp"
#include "home_memory.hpp"

namespace fult::detail {

class slot_allocator {
  public:
    slot_allocator() noexcept = default;
    ~slot_allocator() { for_roots(root_words_, remove_leak_root); }
    slot_allocator(const slot_allocator &) = delete;
    slot_allocator &operator=(const slot_allocator &) = delete;

    // Manages words [first, first + limit) of the home; last_slots are the usable slots of the last word. No
    // slot is used yet. `run` is the place of the current run: where the owner's fast path reads it, or
    // elsewhere. `memory` is that of these words, and grows as they are used; without it, all is usable.
    void open(worker_hot *home, slot_run *run, std::uint32_t first, std::uint32_t limit,
              std::uint64_t last_slots = usable_slots, half_memory *memory = nullptr) noexcept;

    // Returns the descriptor of a low free slot; nullptr at the limit.
    task *take() noexcept;
    // The same, but nullptr too where a quarter of all words is in use and has no free slot. A small table is
    // used up.
    task *take_of_first_quarter() noexcept;
    // True if that many slots are free, or can be. has_spare: some more than a few.
    bool has_free(std::uint32_t count) noexcept;
    bool has_spare() noexcept { return has_free(std::min(limit_ * slots_in_word / 4, few_slots)); }

    // Frees a slot of this range. Returns true if the run has moved to another word.
    bool release(std::uint32_t slot) noexcept;

    // Frees a slot that is not the one just before the run. Returns true if `follow` must be called: so many
    // slots above this one are free that the run should move there.
    FULT_ALWAYS_INLINE bool release_elsewhere(std::uint32_t slot) noexcept {
        std::uint64_t &word = words_[slot >> 6].free;
        const std::uint64_t free = word;
        word = free | bit_of(slot);
        if (free == 0) [[unlikely]]
            mark_free(slot >> 6);
        if ((free | bit_of(slot)) == usable_slots) [[unlikely]]
            mark_empty(slot >> 6);
        return ((free >> (slot & 63)) & next_above) == next_above;
    }
    // Tasks that end in the reverse order of their spawns free slots of earlier words. The run moves there,
    // so that the next spawns and joins take the fast path. Only downwards, so that indices stay dense.
    // Returns true if it moved.
    bool follow(std::uint32_t slot) noexcept;

    // For task trees that take turns on one worker: in words of its own, each takes and frees slots in stack
    // order, without a call. begin_apart moves the run to a word without taken slots, a new one if necessary,
    // unless a quarter of all words is in use. resume moves it back to `next`, the value of next() when the
    // tree was left (nullptr: that was on another worker), or, if that slot is taken by now, to a word
    // without taken slots. A wait alone is no reason for a new word: a program may wait as often as it
    // spawns, and leave a task in each. So the ends of long rows of joins allow for new words: `row_ended`.
    void begin_apart() noexcept;
    void resume(const task *next, bool row_ended) noexcept;
    const task *next() const noexcept { return run_->next; }

    // The word that contains the run.
    std::uint32_t current_word() const noexcept { return current_word_; }

    // True if the next slot begins a new run and a quarter of all slots is taken (the lowest slots are taken
    // first).
    bool is_far_ahead() const noexcept {
        return run_->next == run_->end && current_word_ - first_ >= bound_ / 4;
    }

    // The number of slots that there are, if that is less than the limit: the system has refused the memory
    // of more. 0: it has not.
    std::size_t slots_if_short() const noexcept {
        return bound_ < limit_ ? std::size_t{bound_} * slots_in_word : 0;
    }

    // Gives back the memory of descriptors in wholly free words, except the lowest few thousand.
    void trim() noexcept;

    // Number of taken slots. Exact only while no slot is taken or freed.
    std::uint64_t count_taken() const noexcept;

    // Number of slots whose tasks have ended and were not joined. The same condition holds.
    std::uint64_t count_ended() const noexcept;

  private:
    // Number of slots above one that must be free before the run moves, as bits above that slot. Prevents the
    // run from moving back and forth when a program works at the border of two words.
    static constexpr std::uint64_t next_above = 0xfe;
    // So many words are taken into use before gaps between tasks are filled: a cache line of words.
    static constexpr std::uint32_t few_words = 8;
    static constexpr std::uint32_t few_slots = 256;
    // The most new words that rows which have ended allow for.
    static constexpr std::uint32_t max_allowed_words = 64;

    std::uint64_t slots_of(std::uint32_t word) const noexcept {
        return word == first_ + limit_ - 1 ? last_slots_ : usable_slots;
    }
    bool refill() noexcept;
    bool use_new_word() noexcept;
    bool has_memory_for_new_word() noexcept;
    bool use_empty_word() noexcept;
    bool drain() noexcept;
    void start_run(std::uint32_t word, int first) noexcept;
    void end_run() noexcept;
    bool is_untouched() const noexcept;
    bool allows_new_word() noexcept;
    bool is_free(std::uint32_t slot) const noexcept;
    void add_roots() noexcept;
    template <class Each> std::uint32_t for_roots(std::uint32_t words, const Each &each) const noexcept;
    void mark_free(std::uint32_t word) noexcept;
    void mark_empty(std::uint32_t word) noexcept;
    void put_free(std::uint32_t word, std::uint64_t slots) noexcept;

    slot_word *words_ = nullptr;
    worker_hot *home_ = nullptr;
    slot_run *run_ = nullptr;
    std::uint32_t first_ = 0;
    std::uint32_t limit_ = 0;
    half_memory *memory_ = nullptr;
    std::uint32_t bound_ = 0; // limit_, or what is usable where the system has refused more
    std::uint64_t last_slots_ = usable_slots;
    std::uint32_t used_ = 0;    // number of words that were ever in use
    std::uint32_t allowed_ = 0; // new words for trees that resume
    std::uint32_t current_word_ = 0;
    // one past the last word whose descriptors may be resident; relative to first_
    std::uint32_t touched_ = 0;
    std::uint32_t root_words_ = 0; // whose descriptors LeakSanitizer knows; relative to first_
    bit_tree<half_words> free_;    // words with free slots; indices relative to first_
    bit_tree<half_words>
        empty_; // of these, words without taken slots; a last word of fewer slots is never one
};

// The ranges of the first so many words, each as long as all before it together: few, and little more than is
// used. Returns the number of words in them.
template <class Each>
std::uint32_t slot_allocator::for_roots(std::uint32_t words, const Each &each) const noexcept {
    std::uint32_t begin = 0;
    while (begin < words) {
        const std::uint32_t count = std::min(std::max(begin, few_words), limit_ - begin);
        each(tasks_of(home_) + std::size_t{first_ + begin} * 64, std::size_t{count} * 64 * sizeof(task));
        begin += count;
    }
    return begin;
}

} // namespace fult::detail
