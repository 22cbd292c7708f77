#include "timer_queue.hpp"

#include <algorithm>
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
    e.fourth_ = fourth;
    e.eighth_ = fourth ? fourth->fourth_ : nullptr;
}

bool timer_queue::is_consistent(unsigned index) const noexcept {
    const unsigned level = index >> digit_bits;
    const bool used = (used_[level] >> (index & 63U) & 1) != 0;
    const timer_entry *const first = buckets_[index].first;
    return used == (first != nullptr) && ((used_levels_ >> level & 1) != 0) == (used_[level] != 0) &&
           (!first || (time_of(first->deadline) > present_ && *first->back_ == first));
}

bool timer_queue::is_consistent() const noexcept {
    return (!due_.first || time_of(due_.first->deadline) <= present_) &&
           (used_levels_ == 0 || is_consistent(first_used()));
}

// Puts the entry first. True if it is alone there.
bool timer_queue::push(bucket &into, timer_entry &e) noexcept {
    e.next_ = std::exchange(into.first, &e);
    e.back_ = &into.first;
    set_prefetch_hint(e);
    if (e.next_)
        e.next_->back_ = &e.next_;
    into.earliest = e.next_ ? std::min(into.earliest, e.deadline) : e.deadline;
    return !e.next_;
}

void timer_queue::insert(timer_entry &e) noexcept {
    const std::uint64_t time = time_of(e.deadline);
    if (time <= present_) {
        e.bucket_index_ = is_due;
        push(due_, e);
        return;
    }
    const unsigned level = (static_cast<unsigned>(std::bit_width(time ^ present_)) - 1) / digit_bits;
    FULT_ASSERT(level < levels, "a deadline is not negative");
    const auto digit = static_cast<unsigned>(time >> (level * digit_bits)) & 63U;
    e.bucket_index_ = static_cast<std::uint16_t>(level << digit_bits | digit);
    if (push(buckets_[e.bucket_index_], e)) {
        used_[level] |= std::uint64_t{1} << digit;
        used_levels_ |= 1U << level;
    }
    FULT_ASSERT(is_consistent(e.bucket_index_));
}

void timer_queue::remove(timer_entry &e) noexcept {
    FULT_ASSERT(*e.back_ == &e, "the entry is in this bucket");
    *e.back_ = e.next_;
    if (e.next_)
        e.next_->back_ = e.back_;
    if (e.bucket_index_ != is_due && !buckets_[e.bucket_index_].first)
        mark_unused(e.bucket_index_);
}

void timer_queue::mark_unused(unsigned index) noexcept {
    const unsigned level = index >> digit_bits;
    used_[level] &= ~(std::uint64_t{1} << (index & 63U));
    if (used_[level] == 0)
        used_levels_ &= ~(1U << level);
}

// Called when the present is at the start of the bucket.
void timer_queue::spread(unsigned index) noexcept {
    timer_entry *e = std::exchange(buckets_[index].first, nullptr);
    mark_unused(index);
    while (e) {
        timer_entry *next = e->next_;
        __builtin_prefetch(e->eighth_, 1);
        insert(*e);
        e = next;
    }
}

timer_entry *timer_queue::pop(std::int64_t now) noexcept {
    FULT_ASSERT(is_consistent());
    while (!due_.first && used_levels_ != 0) {
        const unsigned index = first_used();
        const unsigned shift = (index >> digit_bits) * digit_bits;
        const std::uint64_t begin = begin_of(index);
        if (begin > time_of(now))
            break;
        if (begin + (std::uint64_t{1} << shift) > time_of(now)) {
            present_ = begin;
            spread(index);
            continue;
        }
        timer_entry *const e = buckets_[index].first; // all of them are due: no need to sort them first
        remove(*e);
        return e;
    }
    timer_entry *const e = due_.first;
    if (e)
        remove(*e);
    else
        advance(now);
    return e;
}

// Buckets keep their meaning while the present stays before the first bucket in use: only digits of that
// bucket's level or below change.
void timer_queue::advance(std::int64_t now) noexcept {
    const std::uint64_t time = time_of(now);
    if (time > present_ && (used_levels_ == 0 || begin_of(first_used()) > time))
        present_ = time;
}

unsigned timer_queue::first_used() const noexcept {
    const auto level = static_cast<unsigned>(std::countr_zero(used_levels_));
    return level << digit_bits | static_cast<unsigned>(std::countr_zero(used_[level]));
}

std::uint64_t timer_queue::begin_of(unsigned index) const noexcept {
    const unsigned shift = (index >> digit_bits) * digit_bits;
    return (present_ >> shift >> digit_bits << digit_bits | (index & 63U)) << shift;
}

std::int64_t timer_queue::earliest() const noexcept {
    if (due_.first)
        return due_.earliest;
    return used_levels_ != 0 ? buckets_[first_used()].earliest : never;
}

} // namespace fult::detail
