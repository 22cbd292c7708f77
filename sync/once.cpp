#include <fult/detail/assertion.hpp>
#include <fult/sync/once.hpp>

namespace fult {

bool once_flag::begin() noexcept {
    detail::waiter self;
    lock_.lock();
    const int seen = state_.load(std::memory_order_relaxed);
    if (seen == fresh)
        state_.store(running, std::memory_order_relaxed);
    if (seen != running) {
        lock_.unlock();
        return seen == fresh;
    }
    detail::wait_in({"once_flag", this}, lock_, waiters_, self, detail::wait_limits());
    return self.tag != 0; // the previous caller threw
}

void once_flag::end(bool successful) noexcept {
    detail::wait_chain granted;
    lock_.lock();
    FULT_ASSERT(state_.load(std::memory_order_relaxed) == running, "a call that ends has begun");
    if (successful) {
        state_.store(done, std::memory_order_release); // pairs with call_once
        granted.add_all(waiters_);
    } else if (detail::waiter *next = waiters_.pop()) {
        next->tag = 1;
        granted.add(next);
    } else {
        state_.store(fresh, std::memory_order_relaxed);
    }
    lock_.unlock();
    granted.grant();
}

} // namespace fult
