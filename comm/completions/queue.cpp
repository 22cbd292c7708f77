#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/waiter.hpp>

#include "comm/completions/support.hpp"
#include "comm/device/device.hpp"

namespace fult::comm {

struct detail::completion_queue_state {
    device &at;
    fult::detail::spin_lock lock{};
    std::vector<completion_event>
        ring{};               // its size is 0 or a power of two; has room for all expected entries
    std::size_t oldest = 0;   // where the oldest entry is
    std::size_t count = 0;    // number of entries
    std::size_t expected = 0; // number of operations in progress
    fult::detail::wait_list waiters{};

    static completion_queue_state &of(completion_queue &object) noexcept {
        return *std::launder(reinterpret_cast<completion_queue_state *>(object.state_));
    }
    static void begin(completion_queue &object, const endpoint &ep) {
        static_assert(sizeof(completion_queue_state) <= sizeof object.state_ &&
                      alignof(completion_queue_state) <= 8);
        new (object.state_) completion_queue_state{device_of(ep, "completion_queue")};
    }
    void make_room();
    fult::detail::waiter *add(const completion_event &event) noexcept;
    completion_event take_first() noexcept;
    std::optional<completion_event> take() noexcept;
};
using detail::completion_queue_state;

completion_queue::completion_queue(const endpoint &ep) { completion_queue_state::begin(*this, ep); }
completion_queue::~completion_queue() { std::destroy_at(&completion_queue_state::of(*this)); }

// Ensures space for one more, in addition to those that are expected.
void completion_queue_state::make_room() {
    if (count + expected < ring.size())
        return;
    FULT_ASSERT(ring.empty() || std::has_single_bit(ring.size()));
    std::vector<completion_event> larger(std::max<std::size_t>(2 * ring.size(), 16));
    for (std::size_t i = 0; i < count; ++i)
        larger[i] = ring[(oldest + i) & (ring.size() - 1)];
    ring.swap(larger);
    FULT_ASSERT(count + expected < ring.size());
    oldest = 0;
}

void completion_queue::expect_one() {
    completion_queue_state &now = completion_queue_state::of(*this);
    const std::lock_guard hold(now.lock);
    now.make_room();
    ++now.expected;
}

void completion_queue::cancel_expected() noexcept {
    completion_queue_state &now = completion_queue_state::of(*this);
    const std::lock_guard hold(now.lock);
    FULT_ASSERT(now.expected != 0);
    --now.expected;
}

// Given directly to a waiting task, so that no other takes it first.
fult::detail::waiter *completion_queue_state::add(const completion_event &event) noexcept {
    FULT_ASSERT(!waiters.first() || count == 0, "no task waits while there is an entry");
    fult::detail::waiter *const first = waiters.pop();
    if (first)
        *static_cast<completion_event *>(first->subject) = event;
    else
        ring[(oldest + count++) & (ring.size() - 1)] = event;
    return first;
}

void completion_queue::complete_expected(const completion_event &event) noexcept {
    completion_queue_state &now = completion_queue_state::of(*this);
    fult::detail::waiter *first = nullptr;
    {
        const std::lock_guard hold(now.lock);
        FULT_ASSERT(now.expected != 0);
        --now.expected;
        first = now.add(event);
    }
    if (first)
        first->grant();
}

void completion_queue::complete(const completion_event &event) noexcept {
    completion_queue_state &now = completion_queue_state::of(*this);
    fult::detail::waiter *first = nullptr;
    {
        const std::lock_guard hold(now.lock);
        try {
            now.make_room();
        } catch (const std::bad_alloc &) {
            fult::detail::misuse("comm::completion_queue::complete",
                                 "there is no memory for another entry; take entries out earlier");
        }
        first = now.add(event);
    }
    if (first)
        first->grant();
}

std::optional<completion_event> completion_queue_state::take() noexcept {
    const std::lock_guard hold(lock);
    if (count == 0)
        return std::nullopt;
    return take_first();
}

completion_event completion_queue_state::take_first() noexcept {
    FULT_ASSERT(count != 0 && oldest < ring.size());
    const completion_event first = ring[oldest];
    oldest = (oldest + 1) & (ring.size() - 1);
    --count;
    return first;
}

std::optional<completion_event> completion_queue::try_pop() noexcept {
    completion_queue_state &now = completion_queue_state::of(*this);
    if (const auto first = now.take())
        return first;
    now.at.progress_fairly();
    return now.take();
}

completion_event completion_queue::pop() noexcept {
    completion_queue_state &now = completion_queue_state::of(*this);
    completion_event event;
    fult::detail::waiter came;
    {
        const std::lock_guard hold(now.lock);
        if (now.count != 0)
            return now.take_first();
        came.subject = &event;
        now.waiters.push(came);
    }
    now.at.wait(came);
    return event;
}

} // namespace fult::comm
