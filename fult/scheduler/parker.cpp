#include "parker.hpp"

#include <cerrno>
#include <chrono>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <fult/detail/assertion.hpp>

#include "fult/base/futex.hpp"
#include "fult/base/shared_bell.hpp"

namespace fult::detail {
namespace {

// It outlives all parkers: a poster must not access a parker that may be destroyed.
constinit shared_bell bell;

} // namespace

void parker::wait(std::uint32_t prepared, int milliseconds) noexcept {
    FULT_ASSERT((prepared & (asleep | at_bell)) == 0, "one thread waits at a time");
    if (!begin_sleep(prepared))
        return;
    using clock = std::chrono::steady_clock;
    const bool timed = milliseconds >= 0;
    const auto deadline =
        timed ? clock::now() + std::chrono::milliseconds(milliseconds) : clock::time_point();
    while (is_asleep(prepared) && !(timed && clock::now() >= deadline))
        futex_wait(posts_, prepared | asleep, timed ? &deadline : nullptr);
    end_sleep();
}

void parker::sleep(std::uint32_t prepared) noexcept {
    while (is_asleep(prepared))
        futex_wait(posts_, prepared | asleep);
}

bool parker::unpark(std::uint32_t prepared) noexcept {
    if (!change(prepared | asleep, prepared))
        return false;
    futex_wake(&posts_);
    return true;
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
        futex_wake(&posts_);
    errno = saved;
}

} // namespace fult::detail
