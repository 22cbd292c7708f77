#include "parker.hpp"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "fult/base/shared_bell.hpp"

namespace fult::detail {
namespace {

// It outlives all parkers: a poster must not access a parker that may be destroyed.
constinit shared_bell bell;

// Absolute, so that a wait that signal handlers interrupt still ends in time.
timespec time_after(int milliseconds) noexcept {
    constexpr long second = 1'000'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += milliseconds / 1000;
    now.tv_nsec += (milliseconds % 1000) * 1'000'000L;
    if (now.tv_nsec >= second) {
        ++now.tv_sec;
        now.tv_nsec -= second;
    }
    return now;
}

} // namespace

void parker::wait(std::uint32_t prepared, int milliseconds) noexcept {
    FULT_ASSERT((prepared & (asleep | at_bell)) == 0, "one thread waits at a time");
    const int saved = errno;
    const timespec deadline = milliseconds < 0 ? timespec{} : time_after(milliseconds);
    const std::uint32_t sleeping = prepared | asleep;
    if (posts_.compare_exchange_strong(prepared, sleeping, std::memory_order_acq_rel)) { // pairs with post
        while (posts_.load(std::memory_order_acquire) == sleeping) {
            const long rc =
                ::syscall(SYS_futex, &posts_, FUTEX_WAIT_BITSET_PRIVATE, sleeping,
                          milliseconds < 0 ? nullptr : &deadline, nullptr, FUTEX_BITSET_MATCH_ANY);
            if (rc != 0 && errno == ETIMEDOUT)
                break;
        }
        posts_.fetch_and(~asleep, std::memory_order_acq_rel); // pairs with post
    }
    errno = saved;
}

void parker::sleep(std::uint32_t prepared) noexcept {
    const int saved = errno;
    while (is_asleep(prepared))
        ::syscall(SYS_futex, &posts_, FUTEX_WAIT_PRIVATE, prepared | asleep, nullptr, nullptr, 0);
    errno = saved;
}

bool parker::unpark(std::uint32_t prepared) noexcept {
    if (!change(prepared | asleep, prepared))
        return false;
    const int saved = errno;
    wake();
    errno = saved;
    return true;
}

void parker::wake() noexcept {
    ::syscall(SYS_futex, &posts_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool parker::open_bell() noexcept { return bell.open(EFD_CLOEXEC | EFD_NONBLOCK); }
void parker::close_bell() noexcept { bell.close(); }
void parker::forget_bell() noexcept { bell.forget(); }
void parker::ring() noexcept { bell.ring(); }

void parker::wait_with(std::uint32_t prepared, pollfd *descriptors, unsigned count,
                       std::int64_t nanoseconds) noexcept {
    FULT_ASSERT((prepared & (asleep | at_bell)) == 0 && count != 0);
    FULT_ASSERT(bell.is_open(), "open_bell comes first");
    const int saved = errno;
    constexpr std::int64_t second = 1'000'000'000;
    const timespec limit{nanoseconds / second, nanoseconds % second};
    descriptors[0] = {bell.descriptor(), POLLIN, 0};
    if (posts_.compare_exchange_strong(prepared, prepared | at_bell, std::memory_order_acq_rel)) {
        if (nanoseconds < 0) {
            ::ppoll(descriptors, count, nullptr, nullptr);
        } else { // without this the kernel adds 50 microseconds
            const int slack = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
            ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
            ::ppoll(descriptors, count, &limit, nullptr);
            if (slack > 0)
                ::prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
        }
        posts_.fetch_and(~at_bell, std::memory_order_acq_rel); // pairs with post
    }
    eventfd_t rings = 0;
    ::eventfd_read(descriptors[0].fd, &rings); // a later ring only ends the next sleep early
    errno = saved;
}

void parker::post() noexcept {
    const int saved = errno;
    const std::uint32_t was =
        posts_.fetch_add(one_post, std::memory_order_acq_rel); // pairs with wait, wait_with
    if (was & at_bell)
        ring();
    else if (was & asleep)
        wake();
    errno = saved;
}

} // namespace fult::detail
