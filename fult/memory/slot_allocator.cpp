#include "slot_allocator.hpp"

#include <algorithm>
#include <bit>

#include <fult/detail/assertion.hpp>

#include "virtual_memory.hpp"

namespace fult::detail {
namespace {

constexpr std::uint64_t lowest_bits(int count) noexcept {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

} // namespace

void slot_allocator::open(worker_hot *home, slot_run *run, std::uint32_t first, std::uint32_t limit,
                          std::uint64_t last_slots, half_memory *memory) noexcept {
    home_ = home;
    words_ = slot_words(home);
    run_ = run;
    first_ = current_word_ = first;
    limit_ = bound_ = limit;
    last_slots_ = last_slots;
    memory_ = memory;
    if (!memory_ || memory_->usable() != 0)
        use_new_word();
}

void slot_allocator::add_roots() noexcept {
    FULT_ASSERT(root_words_ <= limit_);
    const std::uint32_t before = root_words_;
    const std::size_t known = std::size_t{first_ + before} * 64;
    root_words_ = for_roots(used_, [&](const task *begin, std::size_t bytes) {
        if (begin >= tasks_of(home_) + known)
            add_leak_root(begin, bytes);
    });
    FULT_ASSERT(root_words_ >= used_);
}

// Makes the consecutive free slots of a word, from `first` on, the run.
void slot_allocator::start_run(std::uint32_t w, int first) noexcept {
    const std::uint64_t free = words_[w].free;
    const int count = std::countr_one(free >> first);
    if (free == usable_slots)
        empty_.erase(w - first_);
    words_[w].free = free & ~(lowest_bits(count) << first);
    if (words_[w].free == 0)
        free_.erase(w - first_);
    current_word_ = w;
    touched_ = std::max(touched_, w - first_ + 1);
    run_->next = tasks_of(home_) + std::size_t{w} * 64 + first;
    run_->end = run_->next + count;
}

// Leaves an empty run.
void slot_allocator::end_run() noexcept {
    if (run_->next == run_->end)
        return;
    const std::uint64_t rest = lowest_bits(static_cast<int>(run_->end - run_->next));
    put_free(current_word_, rest << (slot_of(run_->next) & 63));
    run_->end = run_->next;
}

task *slot_allocator::take() noexcept {
    if (run_->next == run_->end && !refill())
        return nullptr;
    return run_->next++;
}

bool slot_allocator::has_free(std::uint32_t count) noexcept {
    auto free = static_cast<std::uint32_t>(run_->end - run_->next);
    if (used_ < bound_) // all but the last are whole
        free += (bound_ - used_ - 1) * slots_in_word +
                static_cast<std::uint32_t>(std::popcount(slots_of(first_ + bound_ - 1)));
    if (free < count)
        drain();
    for (int w = free_.lowest(); w >= 0 && free < count;
         w = free_.at_least(static_cast<std::uint32_t>(w) + 1))
        free += static_cast<std::uint32_t>(
            std::popcount(words_[first_ + static_cast<std::uint32_t>(w)].free & usable_slots));
    return free >= count;
}

task *slot_allocator::take_of_first_quarter() noexcept {
    constexpr std::uint32_t small = 16;
    if (run_->next == run_->end && used_ >= std::max(limit_ / 4, small) && free_.empty() && !drain())
        return nullptr;
    return take();
}

// Prefers words without taken slots: a run of 63 is seldom left, one in the gap between two tasks soon is.
bool slot_allocator::refill() noexcept {
    if (free_.empty())
        drain();
    if (use_empty_word() || (used_ < few_words && use_new_word()))
        return true;
    const int word = free_.lowest();
    if (word == free_.none)
        return use_new_word();
    const std::uint32_t w = first_ + static_cast<std::uint32_t>(word);
    start_run(w, std::countr_zero(words_[w].free));
    return true;
}

// Called before a word is first used: from then on its slots, and their bits of each kind, are accessed.
bool slot_allocator::has_memory_for_new_word() noexcept {
    if (!memory_ || used_ < memory_->usable())
        return true;
    const bool grown = memory_->grow();
    bound_ = grown ? limit_ : used_;
    return grown;
}

bool slot_allocator::use_new_word() noexcept {
    if (used_ == limit_ || !has_memory_for_new_word())
        return false;
    const std::uint32_t w = first_ + used_++;
    if (used_ > root_words_) [[unlikely]]
        add_roots();
    // untouched memory is zero, which is the state of an unused descriptor
    words_[w].free = slots_of(w);
    start_run(w, std::countr_zero(usable_slots));
    return true;
}

bool slot_allocator::use_empty_word() noexcept {
    const int word = empty_.lowest();
    if (word == empty_.none)
        return false;
    start_run(first_ + static_cast<std::uint32_t>(word), std::countr_zero(usable_slots));
    return true;
}

void slot_allocator::begin_apart() noexcept {
    end_run();
    if (!use_empty_word() && !(drain() && use_empty_word()) && used_ < bound_ / 4)
        use_new_word();
}

bool slot_allocator::allows_new_word() noexcept {
    if (used_ < few_words)
        return true;
    if (allowed_ == 0 || used_ >= bound_ / 4)
        return false;
    --allowed_;
    return true;
}

void slot_allocator::resume(const task *next, bool row_ended) noexcept {
    if (row_ended && allowed_ < max_allowed_words)
        ++allowed_;
    if (next == run_->next)
        return;
    if (next && is_free(slot_of(next))) {
        end_run();
        start_run(slot_of(next) >> 6, static_cast<int>(slot_of(next) & 63));
    } else if (!is_untouched() && (!empty_.empty() || allows_new_word())) {
        end_run();
        if (!use_empty_word())
            use_new_word();
    }
}

void slot_allocator::mark_free(std::uint32_t w) noexcept { free_.insert(w - first_); }
void slot_allocator::mark_empty(std::uint32_t w) noexcept { empty_.insert(w - first_); }

void slot_allocator::put_free(std::uint32_t w, std::uint64_t slots) noexcept {
    if (words_[w].free == 0)
        mark_free(w);
    words_[w].free |= slots;
    if (words_[w].free == usable_slots)
        mark_empty(w);
}

bool slot_allocator::release(std::uint32_t slot) noexcept {
    task *const t = tasks_of(home_) + slot;
    if (t + 1 == run_->next) {
        run_->next = t;
        return false;
    }
    return release_elsewhere(slot) && follow(slot);
}

bool slot_allocator::is_free(std::uint32_t slot) const noexcept {
    return (words_[slot >> 6].free & bit_of(slot) & usable_slots) != 0;
}

// True if no slot of the run's word below the run is taken.
bool slot_allocator::is_untouched() const noexcept {
    return run_->next == tasks_of(home_) + std::size_t{current_word_} * 64 + std::countr_zero(usable_slots);
}

bool slot_allocator::follow(std::uint32_t slot) noexcept {
    if (slot >> 6 >= current_word_ || !is_untouched())
        return false;
    end_run();
    start_run(slot >> 6, static_cast<int>(slot & 63));
    return true;
}

// Collects slots that other workers freed.
bool slot_allocator::drain() noexcept {
    const public_words returned(home_, returned_offsets);
    bool any = false;
    returned.scan(false, [&](std::uint32_t w, std::uint64_t bits) {
        if (w < first_ || w >= first_ + used_)
            return false;
        bits = returned.take(w, bits);
        if (bits == 0)
            return false;
        put_free(w, bits);
        any = true;
        return false;
    });
    return any;
}

// Discarded memory is zero, which is the state of an unused descriptor. A worker that found a stale bit may
// still write a pending wake-up there, which has no effect.
void slot_allocator::trim() noexcept {
    constexpr std::uint32_t kept = 64; // words: 512 KiB of descriptors
    drain();
    std::uint32_t still = kept;
    for (std::uint32_t w = kept; w < touched_;) {
        std::uint32_t end = w;
        while (end < touched_ && words_[first_ + end].free == slots_of(first_ + end))
            ++end;
        if (end > w)
            discard_pages(tasks_of(home_) + std::size_t{first_ + w} * 64,
                          std::size_t{end - w} * 64 * sizeof(task));
        if (end < touched_)
            still = end + 1;
        w = end + 1;
    }
    touched_ = std::min(touched_, still);
}

std::uint64_t slot_allocator::count_taken() const noexcept {
    const public_words returned(home_, returned_offsets);
    std::uint64_t count = 0;
    for (std::uint32_t w = first_; w < first_ + used_; ++w) {
        const std::uint64_t free = words_[w].free | returned.words[w].load(std::memory_order_acquire);
        count += static_cast<std::uint64_t>(std::popcount(slots_of(w)) - std::popcount(free));
    }
    return count - static_cast<std::uint64_t>(run_->end - run_->next);
}

// The join word of a free slot is not join_done.
std::uint64_t slot_allocator::count_ended() const noexcept {
    const task *const all = tasks_of(home_);
    std::uint64_t count = 0;
    for (std::size_t slot = std::size_t{first_} * 64; slot < std::size_t{first_ + used_} * 64; ++slot)
        count += all[slot].join.load(std::memory_order_acquire) == join_done ? 1 : 0; // pairs with complete
    return count;
}

} // namespace fult::detail
