// First-in, first-out queue of objects that contain their link. Owns none of them.
#pragma once

#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

// Protected by its owner's lock.
template <class T, T *T::*Next> class linked_queue {
  public:
    bool empty() const noexcept { return first_ == nullptr; }
    T *first() const noexcept { return first_; } // nullptr if empty

    void append(T &item) noexcept {
        FULT_ASSERT(!first_ || (last_ && !(last_->*Next)), "the last one has no next");
        item.*Next = nullptr;
        (first_ ? last_->*Next : first_) = &item;
        last_ = &item;
    }
    void prepend(T &item) noexcept {
        item.*Next = first_;
        if (!first_)
            last_ = &item;
        first_ = &item;
    }
    T *take() noexcept { // nullptr if empty
        T *const item = first_;
        if (item)
            first_ = item->*Next;
        return item;
    }
    // All of them, linked by Next; nullptr if empty.
    T *take_all() noexcept { return std::exchange(first_, nullptr); }

  private:
    T *first_ = nullptr;
    T *last_ = nullptr; // valid if first_ is
};

} // namespace fult::comm::detail
