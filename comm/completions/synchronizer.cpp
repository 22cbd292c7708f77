#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/completions/support.hpp"
#include "comm/device/device.hpp"

namespace fult::comm {

synchronizer::synchronizer(const endpoint &ep, std::size_t count)
    : device_(detail::device_of(ep, "synchronizer")), left_(count) {}

// A waiter may destroy it once nothing is left, so this does not access it after releasing the lock.
void synchronizer::complete(const completion_event &event) noexcept {
    fult::detail::wait_list woken;
    {
        const std::lock_guard hold(lock_);
        if (left_ == 0)
            fult::detail::misuse("comm::synchronizer", "more has come than it was made for");
        if (event.failure != errc::none && failed_.failure == errc::none)
            failed_ = event;
        if (--left_ == 0)
            woken = std::exchange(waiters_, {});
    }
    while (fult::detail::waiter *w = woken.pop())
        w->grant();
}

bool synchronizer::test() noexcept {
    device_.progress_fairly();
    const std::lock_guard hold(lock_);
    return left_ == 0;
}

void synchronizer::wait() {
    fult::detail::waiter waiter;
    bool waits = false;
    {
        const std::lock_guard hold(lock_);
        waits = left_ != 0;
        if (waits)
            waiters_.push(waiter);
    }
    if (waits)
        device_.wait(waiter);
    // Only waiters access it now.
    if (failed_.failure != errc::none)
        detail::throw_failure(failed_, "synchronizer");
}

void synchronizer::reset(std::size_t count) noexcept {
    const std::lock_guard hold(lock_);
    if (left_ != 0)
        fult::detail::misuse("comm::synchronizer", "is to be used again before all have come");
    left_ = count;
    FULT_ASSERT(waiters_.empty());
    failed_ = {};
}

} // namespace fult::comm
