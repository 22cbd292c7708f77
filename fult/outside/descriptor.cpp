#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fult/descriptor.hpp>
#include <fult/this_task.hpp>

#include "descriptors.hpp"
#include "fult/base/no_descriptor.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult {
namespace detail {
namespace {

[[noreturn]] void fail_not_open() {
    throw std::system_error(EBADF, std::generic_category(), "fult: cannot wait for the descriptor");
}

struct bell { // rung by a stop request, or by close_descriptor
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bell() {
        if (descriptor < 0)
            throw_no_descriptor(errno, "fult: wait for a descriptor", "eventfd2");
    }
    bell(const bell &) = delete;
    bell &operator=(const bell &) = delete;
    ~bell() { ::close(descriptor); }
    void ring() const noexcept { ::eventfd_write(descriptor, 1); }
};

// The waits of foreign threads, for close_descriptor.
class watching_thread {
  public:
    explicit watching_thread(int descriptor) : descriptor_(descriptor) {
        if (bell_.descriptor == descriptor) // so it was not open
            fail_not_open();
        const std::lock_guard hold(lock);
        next_ = std::exchange(first, this);
    }
    ~watching_thread() {
        const std::lock_guard hold(lock);
        watching_thread **at = &first;
        while (*at != this)
            at = &(*at)->next_;
        *at = next_;
    }
    watching_thread(const watching_thread &) = delete;
    watching_thread &operator=(const watching_thread &) = delete;

    int bell_descriptor() const noexcept { return bell_.descriptor; }
    void ring() const noexcept { bell_.ring(); }
    bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); } // pairs with close
    // Ends all waits for the descriptor, those of tasks too, and closes it. A wait that begins later finds it
    // closed.
    static int close(int descriptor) noexcept {
        const std::lock_guard hold(lock);
        for (watching_thread *each = first; each; each = each->next_)
            if (each->descriptor_ == descriptor) {
                each->closed_.store(true, std::memory_order_release);
                each->ring();
            }
        return descriptors::instance().close(descriptor);
    }

  private:
    static constinit std::mutex lock;
    static constinit watching_thread *first;

    const int descriptor_;
    const bell bell_;
    std::atomic<bool> closed_{false};
    watching_thread *next_;
};
constinit std::mutex watching_thread::lock;
constinit watching_thread *watching_thread::first = nullptr;

timespec time_left(const wait_limits &limits) {
    const auto left = std::max<wide_nanoseconds>(left_until(limits.deadline()), 0);
    return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

descriptor_status end_of(const wait_limits &limits) noexcept {
    return limits.stop() && limits.stop()->stop_requested() ? descriptor_status::stopped
                                                            : descriptor_status::timed_out;
}

descriptor_status wait_on_thread(int descriptor, short events, const wait_limits &limits) {
    watching_thread here(descriptor);
    const auto on_stop = [&here] { here.ring(); };
    std::optional<std::stop_callback<decltype(on_stop)>> callback;
    if (limits.stop())
        callback.emplace(*limits.stop(), on_stop);
    pollfd watched[] = {{descriptor, events, 0}, {here.bell_descriptor(), POLLIN, 0}};
    for (;;) {
        const timespec left = limits.timed() ? time_left(limits) : timespec{};
        if (::ppoll(watched, 2, limits.timed() ? &left : nullptr, nullptr) < 0 && errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "fult: wait for a descriptor");
        if (here.is_closed()) // the number may be another descriptor's by now
            return descriptor_status::closed;
        if (watched[0].revents & POLLNVAL)
            fail_not_open();
        if (watched[0].revents != 0)
            return descriptor_status::ready;
        if (limits.reached())
            return end_of(limits);
    }
}

} // namespace

descriptor_status wait_descriptor(int descriptor, direction what, const wait_limits &limits) {
    const bool writing = what == direction::writing;
    const short events = writing ? POLLOUT : POLLIN | POLLRDHUP;
    if (descriptor < 0)
        fail_not_open();
    if (!limits.none() && limits.reached()) { // no time to wait: poll once
        pollfd now{descriptor, events, 0};
        const int saved = errno;
        const int count = ::poll(&now, 1, 0);
        errno = saved;
        let_others_run();
        if (count > 0 && (now.revents & POLLNVAL))
            fail_not_open();
        return count > 0 ? descriptor_status::ready : end_of(limits);
    }
    if (!in_task())
        return wait_on_thread(descriptor, events, limits);
    descriptors &all = descriptors::instance();
    all.open(this_worker()->team);
    const descriptor_status status = all.wait(descriptor, writing, limits);
    return status == descriptor_status::timed_out ? end_of(limits) : status;
}

} // namespace detail

int close_descriptor(int descriptor) noexcept { return detail::watching_thread::close(descriptor); }

} // namespace fult
