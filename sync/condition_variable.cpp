#include <mutex>

#include <fult/sync/condition_variable.hpp>

namespace fult {

void condition_variable::enter(detail::waiter &self) noexcept {
    const std::lock_guard guard(lock_);
    waiters_.push(self);
}

void condition_variable::notify_one() noexcept {
    lock_.lock();
    detail::waiter *first = waiters_.pop();
    lock_.unlock();
    if (first)
        first->grant();
}

void condition_variable::notify_all() noexcept {
    detail::wait_chain all;
    lock_.lock();
    all.add_all(waiters_);
    lock_.unlock();
    all.grant();
}

} // namespace fult
