#include "timer_queue.hpp"

#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::detail {

// Entries are scattered in memory, and walking a long list would cost a cache miss for each. So each entry
// stores the entry eight positions later in its list. That entry may have been removed; it is only
// prefetched. Entries near the head of a list were touched last.
void timer_queue::set_prefetch_hint(timer_entry &e) noexcept {
    timer_entry *fourth = e.next_;
    for (int i = 0; fourth && i < 3; ++i)
        fourth = fourth->next_;
    e.child_ = fourth;
    e.previous_ = fourth ? fourth->child_ : nullptr;
}

bool timer_queue::is_consistent(unsigned level, unsigned digit) const noexcept {
    const bool used = (used_[level] >> digit & 1) != 0;
    const timer_entry *const first = buckets_[level << digit_bits | digit].first;
    return used == (first != nullptr) && ((used_levels_ >> level & 1) != 0) == (used_[level] != 0) &&
           (!first || (tick_of(first->deadline) > present_ && *first->back_ == first));
}

bool timer_queue::is_consistent() const noexcept {
    if (root_ && (tick_of(root_->deadline) > present_ || root_->next_ || root_->previous_))
        return false;
    if (used_levels_ == 0)
        return true;
    const auto level = static_cast<unsigned>(std::countr_zero(used_levels_));
    return is_consistent(level, static_cast<unsigned>(std::countr_zero(used_[level])));
}

void timer_queue::insert(timer_entry &e) noexcept {
    const std::uint64_t tick = tick_of(e.deadline);
    if (tick <= present_) {
        e.bucket_index_ = in_heap;
        e.child_ = e.next_ = e.previous_ = nullptr;
        root_ = meld(root_, &e);
        return;
    }
    const auto highest = static_cast<unsigned>(std::bit_width(tick ^ present_)) - 1;
    const unsigned level = highest / digit_bits;
    FULT_ASSERT(level < levels, "a deadline is not negative");
    const auto digit = static_cast<unsigned>(tick >> (level * digit_bits)) & 63U;
    e.bucket_index_ = static_cast<std::uint16_t>(level << digit_bits | digit);
    FULT_ASSERT(e.bucket_index_ != in_heap);
    bucket &b = buckets_[e.bucket_index_];
    e.next_ = b.first;
    e.back_ = &b.first;
    set_prefetch_hint(e);
    if (b.first) {
        b.first->back_ = &e.next_;
        b.earliest = e.deadline < b.earliest ? e.deadline : b.earliest;
    } else {
        b.earliest = e.deadline;
        used_[level] |= std::uint64_t{1} << digit;
        used_levels_ |= 1U << level;
    }
    b.first = &e;
    FULT_ASSERT(is_consistent(level, digit));
}

// Removes the entry from its bucket.
void timer_queue::take_out(timer_entry &e) noexcept {
    FULT_ASSERT(*e.back_ == &e, "the entry is in this bucket");
    *e.back_ = e.next_;
    if (e.next_)
        e.next_->back_ = e.back_;
    if (buckets_[e.bucket_index_].first)
        return;
    const unsigned level = e.bucket_index_ >> digit_bits;
    used_[level] &= ~(std::uint64_t{1} << (e.bucket_index_ & 63U));
    if (used_[level] == 0)
        used_levels_ &= ~(1U << level);
}

void timer_queue::remove(timer_entry &e) noexcept {
    if (e.bucket_index_ == in_heap)
        remove_from_heap(e);
    else
        take_out(e);
}

// Called when the present is at the start of the bucket.
void timer_queue::spread(unsigned level, unsigned digit) noexcept {
    bucket &b = buckets_[level << digit_bits | digit];
    timer_entry *e = std::exchange(b.first, nullptr);
    used_[level] &= ~(std::uint64_t{1} << digit);
    if (used_[level] == 0)
        used_levels_ &= ~(1U << level);
    while (e) {
        timer_entry *next = e->next_;
        __builtin_prefetch(e->previous_, 1);
        insert(*e);
        e = next;
    }
}

timer_entry *timer_queue::pop(std::int64_t now) noexcept {
    FULT_ASSERT(is_consistent());
    for (;;) {
        if (root_) { // the heap comes first
            if (root_->deadline > now)
                return nullptr;
            timer_entry *e = root_;
            remove_from_heap(*e);
            return e;
        }
        if (used_levels_ == 0)
            break;
        const auto level = static_cast<unsigned>(std::countr_zero(used_levels_));
        const auto digit = static_cast<unsigned>(std::countr_zero(used_[level]));
        const unsigned shift = level * digit_bits;
        const std::uint64_t begin = first_tick(level, digit);
        const std::uint64_t last = begin + (std::uint64_t{1} << shift) - 1;
        const std::uint64_t tick = tick_of(now);
        if (begin > tick)
            break;
        if (last < tick) { // all of them are due: no need to sort them first
            timer_entry *e = buckets_[level << digit_bits | digit].first;
            take_out(*e);
            return e;
        }
        present_ = begin;
        FULT_ASSERT(!root_, "the heap is empty before the present moves on");
        spread(level, digit);
    }
    advance(now);
    return nullptr;
}

// Buckets keep their meaning while the present stays before the first bucket in use: only digits of that
// bucket's level or below change.
void timer_queue::advance(std::int64_t now) noexcept {
    const std::uint64_t tick = tick_of(now);
    if (tick <= present_)
        return;
    if (used_levels_ != 0) {
        const auto level = static_cast<unsigned>(std::countr_zero(used_levels_));
        if (first_tick(level, static_cast<unsigned>(std::countr_zero(used_[level]))) <= tick)
            return;
    }
    present_ = tick;
}

std::uint64_t timer_queue::first_tick(unsigned level, unsigned digit) const noexcept {
    const unsigned shift = level * digit_bits;
    return (present_ >> shift >> digit_bits << digit_bits | digit) << shift;
}

std::int64_t timer_queue::earliest() const noexcept {
    if (root_)
        return root_->deadline;
    if (used_levels_ == 0)
        return never;
    const auto level = static_cast<unsigned>(std::countr_zero(used_levels_));
    return buckets_[level << digit_bits | static_cast<unsigned>(std::countr_zero(used_[level]))].earliest;
}

// The heap ----------------------------------------------------------------------------------------------------

timer_entry *timer_queue::meld(timer_entry *a, timer_entry *b) noexcept {
    FULT_ASSERT(a != b || !a, "two heaps share no entry");
    if (!a || !b)
        return a ? a : b;
    if (b->deadline < a->deadline)
        std::swap(a, b);
    b->previous_ = a;
    b->next_ = a->child_;
    if (a->child_)
        a->child_->previous_ = b;
    a->child_ = b;
    a->next_ = a->previous_ = nullptr;
    return a;
}

timer_entry *timer_queue::pair_up(timer_entry *list) noexcept {
    timer_entry *pairs = nullptr; // chained by next_, last first
    while (list) {
        timer_entry *a = list, *b = a->next_;
        list = b ? b->next_ : nullptr;
        a->next_ = a->previous_ = nullptr;
        if (b)
            b->next_ = b->previous_ = nullptr;
        timer_entry *both = meld(a, b);
        both->next_ = pairs;
        pairs = both;
    }
    timer_entry *all = nullptr;
    while (pairs) {
        timer_entry *rest = pairs->next_;
        pairs->next_ = nullptr;
        all = meld(all, pairs);
        pairs = rest;
    }
    return all;
}

void timer_queue::remove_from_heap(timer_entry &e) noexcept {
    FULT_ASSERT(e.bucket_index_ == in_heap && root_);
    FULT_ASSERT(&e == root_ || e.previous_, "only the root has none before it");
    timer_entry *below = pair_up(e.child_);
    if (&e == root_) {
        root_ = below;
        return;
    }
    (e.previous_->child_ == &e ? e.previous_->child_ : e.previous_->next_) = e.next_;
    if (e.next_)
        e.next_->previous_ = e.previous_;
    root_ = meld(root_, below);
}

} // namespace fult::detail
