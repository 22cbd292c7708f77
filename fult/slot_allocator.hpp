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
    // Words [first, first + limit) of the home; none is used yet. The run that slots are taken from lies
    // where the fast path of the owner sees it, or anywhere else.
    void open(worker_hot *home, slot_run *run, std::uint32_t first, std::uint32_t limit) noexcept;

    // A low free slot's descriptor, or null at the limit.
    task *take() noexcept;

    // Frees a slot of this range.
    void release(std::uint32_t slot) noexcept;

    // The word that the run is in.
    std::uint32_t current_word() const noexcept { return cur_; }

    // Gives the memory of descriptors back that lie free in whole words, but for the lowest few thousand.
    void trim() noexcept;

    // Slots that are taken. Exact only while nobody takes or frees any.
    std::uint64_t taken() const noexcept;

  private:
    bool refill() noexcept;
    bool drain() noexcept;
    void start_run(std::uint32_t word) noexcept;

    slot_word *words_ = nullptr;
    worker_hot *home_ = nullptr;
    slot_run *run_ = nullptr;
    std::uint32_t first_ = 0;
    std::uint32_t limit_ = 0;
    std::uint32_t used_ = 0; // words that were ever in use
    std::uint32_t cur_ = 0;
    std::uint32_t touched_ = 0; // behind the last word whose descriptors may be resident; from first_
    bit_tree<half_words> free_; // words with free bits; indices from first_
};

} // namespace fult::detail
