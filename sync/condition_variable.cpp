#include <fult/sync/condition_variable.hpp>

namespace fult {

void condition_variable::enter(detail::waiter &self) noexcept {
    lock_.lock();
    waiters_.push(self);
    lock_.unlock();
}

bool condition_variable::finish(detail::waiter &self, const detail::wait_limits &limits) {
    return self.wait(limits, {"condition_variable", this}) || !leave(self);
}

bool condition_variable::leave(detail::waiter &self) noexcept {
    return detail::leave_queue(lock_, waiters_, self);
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
