#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/waiter.hpp>

#include "comm/completions/support.hpp"
#include "comm/device/device.hpp"

namespace fult::comm {

struct detail::synchronizer_state {
    device &at;
    std::size_t left;
    fult::detail::spin_lock lock{};
    completion_event failed{}; // the first that failed
    fult::detail::wait_list waiters{};

    static synchronizer_state &of(synchronizer &object) noexcept {
        return *std::launder(reinterpret_cast<synchronizer_state *>(object.state_));
    }
    static void begin(synchronizer &object, const endpoint &ep, std::size_t count) {
        static_assert(sizeof(synchronizer_state) <= sizeof object.state_ && alignof(synchronizer_state) <= 8);
        static_assert(std::is_trivially_destructible_v<synchronizer_state>);
        new (object.state_) synchronizer_state{device_of(ep, "synchronizer"), count};
    }
};
using detail::synchronizer_state;

synchronizer::synchronizer(const endpoint &ep, std::size_t count) {
    synchronizer_state::begin(*this, ep, count);
}

// A waiter may destroy it once nothing is left, so this does not access it after releasing the lock.
void synchronizer::complete(const completion_event &event) noexcept {
    synchronizer_state &now = synchronizer_state::of(*this);
    fult::detail::wait_list woken;
    {
        const std::lock_guard hold(now.lock);
        if (now.left == 0)
            fult::detail::misuse("comm::synchronizer", "more has come than it was made for");
        if (event.failure != errc::none && now.failed.failure == errc::none)
            now.failed = event;
        if (--now.left == 0)
            woken = std::exchange(now.waiters, {});
    }
    while (fult::detail::waiter *w = woken.pop())
        w->grant();
}

bool synchronizer::test() noexcept {
    synchronizer_state &now = synchronizer_state::of(*this);
    now.at.progress_fairly();
    const std::lock_guard hold(now.lock);
    return now.left == 0;
}

void synchronizer::wait() {
    synchronizer_state &now = synchronizer_state::of(*this);
    fult::detail::waiter waiter;
    bool waits = false;
    {
        const std::lock_guard hold(now.lock);
        waits = now.left != 0;
        if (waits)
            now.waiters.push(waiter);
    }
    if (waits)
        now.at.wait(waiter);
    // Only waiters access it now.
    if (now.failed.failure != errc::none)
        detail::throw_failure(now.failed, "synchronizer");
}

void synchronizer::reset(std::size_t count) noexcept {
    synchronizer_state &now = synchronizer_state::of(*this);
    const std::lock_guard hold(now.lock);
    if (now.left != 0)
        fult::detail::misuse("comm::synchronizer", "is to be used again before all have come");
    now.left = count;
    FULT_ASSERT(now.waiters.empty());
    now.failed = {};
}

} // namespace fult::comm
