#include <algorithm>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>

#include "comm/completions/support.hpp"
#include "comm/device/device.hpp"

namespace fult::comm {

completion_queue::completion_queue(const endpoint &ep) : device_(detail::device_of(ep, "completion_queue")) {}

// Ensures space for one more, in addition to those that are expected.
void completion_queue::make_room() {
    if (count_ + expected_ < ring_.size())
        return;
    FULT_ASSERT(ring_.empty() || std::has_single_bit(ring_.size()));
    std::vector<completion_event> larger(std::max<std::size_t>(2 * ring_.size(), 16));
    for (std::size_t i = 0; i < count_; ++i)
        larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    FULT_ASSERT(count_ + expected_ < ring_.size());
    first_ = 0;
}

void completion_queue::expect_one() {
    const std::lock_guard hold(lock_);
    make_room();
    ++expected_;
}

void completion_queue::cancel_expected() noexcept {
    const std::lock_guard hold(lock_);
    FULT_ASSERT(expected_ != 0);
    --expected_;
}

// Given directly to a waiting task, so that no other takes it first.
fult::detail::waiter *completion_queue::add(const completion_event &event) noexcept {
    FULT_ASSERT(!waiters_.first() || count_ == 0, "no task waits while there is an entry");
    fult::detail::waiter *const first = waiters_.pop();
    if (first)
        *static_cast<completion_event *>(first->subject) = event;
    else
        ring_[(first_ + count_++) & (ring_.size() - 1)] = event;
    return first;
}

void completion_queue::complete_expected(const completion_event &event) noexcept {
    fult::detail::waiter *first = nullptr;
    {
        const std::lock_guard hold(lock_);
        FULT_ASSERT(expected_ != 0);
        --expected_;
        first = add(event);
    }
    if (first)
        first->grant();
}

void completion_queue::complete(const completion_event &event) noexcept {
    fult::detail::waiter *first = nullptr;
    {
        const std::lock_guard hold(lock_);
        try {
            make_room();
        } catch (const std::bad_alloc &) {
            fult::detail::misuse("comm::completion_queue::complete",
                                 "there is no memory for another entry; take entries out earlier");
        }
        first = add(event);
    }
    if (first)
        first->grant();
}

std::optional<completion_event> completion_queue::take() noexcept {
    const std::lock_guard hold(lock_);
    if (count_ == 0)
        return std::nullopt;
    return take_first();
}

completion_event completion_queue::take_first() noexcept {
    FULT_ASSERT(count_ != 0 && first_ < ring_.size());
    const completion_event first = ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
    return first;
}

std::optional<completion_event> completion_queue::try_pop() noexcept {
    if (const auto first = take())
        return first;
    device_.progress_fairly();
    return take();
}

completion_event completion_queue::pop() noexcept {
    completion_event event;
    fult::detail::waiter came;
    {
        const std::lock_guard hold(lock_);
        if (count_ != 0)
            return take_first();
        came.subject = &event;
        waiters_.push(came);
    }
    device_.wait(came);
    return event;
}

} // namespace fult::comm
