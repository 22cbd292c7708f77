#include <fult/detail/assertion.hpp>
#include <fult/sync/future.hpp>

namespace fult::detail {

bool shared_state::wait(const wait_limits &limits) {
    if (is_ready())
        return true;
    waiter self;
    lock_.lock();
    if (is_ready()) {
        lock_.unlock();
        return true;
    }
    return wait_in({"future", this}, lock_, waiters_, self, limits);
}

void shared_state::begin() {
    int seen = empty;
    if (!state_.compare_exchange_strong(seen, being_set, std::memory_order_relaxed))
        throw future_error(future_errc::promise_already_satisfied);
}

// The promise may end as soon as the state is ready: the last owner waits for the unlock (drop).
void shared_state::publish() noexcept {
    wait_chain all;
    lock_.lock();
    FULT_ASSERT(state_.load(std::memory_order_relaxed) != is_set, "a value is published once");
    state_.store(is_set, std::memory_order_release); // pairs with is_ready
    all.add_all(waiters_);
    lock_.unlock();
    all.grant();
}

void shared_state::abandon() noexcept {
    if (is_ready())
        return;
    error_ = std::make_exception_ptr(future_error(future_errc::broken_promise));
    publish();
}

} // namespace fult::detail
