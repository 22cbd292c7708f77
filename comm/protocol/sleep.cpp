#include "comm/protocol/sleep.hpp"

#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "fult/base/no_descriptor.hpp"

namespace fult::comm::detail {

device_sleep::~device_sleep() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
    if (wake_event_ >= 0)
        ::close(wake_event_);
}

void device_sleep::open(std::span<const std::unique_ptr<transport>> transports,
                        std::unique_ptr<doorbells> bells) {
    if (transports.empty())
        return;
    bells_ = std::move(bells);
    const char *const missing = "fult-comm: no descriptor to wake threads that wait for messages";
    descriptor_ = ::epoll_create1(EPOLL_CLOEXEC);
    if (descriptor_ < 0)
        fult::detail::throw_no_descriptor(errno, missing, "epoll_create1");
    wake_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_event_ < 0)
        fult::detail::throw_no_descriptor(errno, missing, "eventfd2");
    patience_ = 100;
    const auto watch = [&](int fd) {
        epoll_event event{};
        event.events = EPOLLIN;
        if (fd < 0 || ::epoll_ctl(descriptor_, EPOLL_CTL_ADD, fd, &event) != 0)
            patience_ = 1;
    };
    watch(wake_event_);
    if (bells_) {
        watch(bells_->descriptor());
        if (!bells_->reliable())
            patience_ = 1;
    }
    for (const auto &each : transports)
        if (const int fd = each->descriptor(); fd >= 0)
            watch(fd);
        else if (!bells_)
            patience_ = 1;
}

void device_sleep::wake() noexcept {
    if (wake_event_ >= 0)
        ::eventfd_write(wake_event_, 1);
}

void device_sleep::begin() noexcept {
    if (bells_)
        bells_->begin_sleep();
}

void device_sleep::announce(bool urgent) noexcept {
    is_urgent_ = urgent;
    asleep_.store(true, std::memory_order_relaxed);
}

void device_sleep::end() noexcept {
    asleep_.store(false, std::memory_order_relaxed);
    eventfd_t times = 0;
    ::eventfd_read(wake_event_, &times);
    if (bells_)
        bells_->end_sleep();
}

void device_sleep::timed_out(bool waits) noexcept {
    if (waits && !is_urgent_ && asleep_.load(std::memory_order_relaxed))
        missed_wakeups_.fetch_add(1, std::memory_order_relaxed);
}

void device_sleep::wake_sleeper() noexcept {
    if (asleep_.exchange(false, std::memory_order_relaxed))
        wake();
}

} // namespace fult::comm::detail
