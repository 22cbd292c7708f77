#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include <fult/descriptor.hpp>
#include <fult/this_task.hpp>

#include "descriptors.hpp"
#include "fult/base/no_descriptor.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult {
namespace detail {
namespace {

struct bell { // rung by a stop request
    int descriptor = -1;
    bell() = default;
    bell(const bell &) = delete;
    bell &operator=(const bell &) = delete;
    ~bell() {
        if (descriptor >= 0)
            ::close(descriptor);
    }
    void ring() const noexcept { ::eventfd_write(descriptor, 1); }
};

timespec time_left(const wait_limits &limits) {
    const auto left = std::max<wide_nanoseconds>(left_until(limits.deadline()), 0);
    return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

// Waits within the limits. Returns true if the descriptor is ready.
bool wait_on_thread(int descriptor, short events, const wait_limits &limits) {
    bell stopped;
    const auto on_stop = [&stopped] { stopped.ring(); };
    std::optional<std::stop_callback<decltype(on_stop)>> callback;
    if (limits.stop()) {
        stopped.descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (stopped.descriptor < 0)
            throw_no_descriptor(errno, "fult: wait for a descriptor, or a stop", "eventfd2");
        callback.emplace(*limits.stop(), on_stop);
    }
    pollfd watched[] = {{descriptor, events, 0}, {stopped.descriptor, POLLIN, 0}};
    for (;;) {
        const timespec left = limits.timed() ? time_left(limits) : timespec{};
        if (::ppoll(watched, 2, limits.timed() ? &left : nullptr, nullptr) < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "fult: wait for a descriptor");
        if (watched[0].revents & POLLNVAL)
            throw std::system_error(EBADF, std::generic_category(), "fult: cannot wait for the descriptor");
        if (watched[0].revents != 0)
            return true;
        if (limits.reached())
            return false;
    }
}

} // namespace

wait_status wait_descriptor(int descriptor, direction what, const wait_limits &limits) {
    const bool writing = what == direction::writing;
    const short events = writing ? POLLOUT : POLLIN | POLLRDHUP;
    const auto end_of = [&] {
        return limits.stop() && limits.stop()->stop_requested() ? wait_status::stopped
                                                                : wait_status::timed_out;
    };
    if (descriptor < 0)
        throw std::system_error(EBADF, std::generic_category(), "fult: cannot wait for the descriptor");
    if (!in_task())
        return wait_on_thread(descriptor, events, limits) ? wait_status::ready : end_of();
    if (!limits.none() && limits.reached()) { // no time to wait: poll once
        pollfd now{descriptor, events, 0};
        const int saved = errno;
        const int count = ::poll(&now, 1, 0);
        errno = saved;
        let_others_run();
        if (count > 0 && (now.revents & POLLNVAL))
            throw std::system_error(EBADF, std::generic_category(), "fult: cannot wait for the descriptor");
        return count > 0 ? wait_status::ready : end_of();
    }
    descriptors &all = descriptors::the();
    all.open(this_worker()->team);
    switch (all.wait(descriptor, writing, limits)) {
    case descriptors::wait_result::ready:
        return wait_status::ready;
    case descriptors::wait_result::closed:
        return wait_status::closed;
    default:
        return end_of();
    }
}

} // namespace detail

int close_descriptor(int descriptor) noexcept { return detail::descriptors::the().close(descriptor); }

} // namespace fult
