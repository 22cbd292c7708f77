#include <mutex>

#include <fult/sync/event.hpp>

namespace fult {

void event::set() noexcept {
    detail::wait_chain all;
    lock_.lock();
    set_.store(true, std::memory_order_release); // pairs with is_set
    all.add_all(waiters_);
    lock_.unlock();
    all.grant();
}

void event::reset() noexcept {
    const std::lock_guard guard(lock_);
    set_.store(false, std::memory_order_relaxed);
}

// Takes the lock even if the event is set: then the setter no longer uses the event when this returns.
bool event::wait_within(const detail::wait_limits &limits) const {
    detail::waiter self;
    lock_.lock();
    if (set_.load(std::memory_order_relaxed)) {
        lock_.unlock();
        return true;
    }
    return detail::wait_in({"event", this}, lock_, waiters_, self, limits);
}

} // namespace fult
