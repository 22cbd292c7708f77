#include <mutex>
#include <utility>

#include "comm/completions/support.hpp"
#include "comm/device.hpp"

namespace fult::comm {

completion_queue::completion_queue(const endpoint &on) : on_(detail::device_of(on, "completion_queue")) {}

// Who waits gets it at once, so that nobody takes it away again.
void completion_queue::complete(const completed &what) noexcept {
    fult::detail::waiter *first = nullptr;
    {
        const std::lock_guard hold(lock_);
        first = waiters_.pop();
        if (first)
            *static_cast<completed *>(first->subject) = what;
        else
            ended_.push_back(what);
    }
    if (first)
        first->grant();
}

std::optional<completed> completion_queue::take() noexcept {
    const std::lock_guard hold(lock_);
    if (ended_.empty())
        return std::nullopt;
    const completed first = ended_.front();
    ended_.pop_front();
    return first;
}

std::optional<completed> completion_queue::try_pop() noexcept {
    if (const auto first = take())
        return first;
    on_.progress();
    return take();
}

completed completion_queue::pop() noexcept {
    completed what;
    fult::detail::waiter came;
    {
        const std::lock_guard hold(lock_);
        if (!ended_.empty()) {
            what = ended_.front();
            ended_.pop_front();
            return what;
        }
        came.subject = &what;
        waiters_.push(came);
    }
    on_.wait(came);
    return what;
}

} // namespace fult::comm
