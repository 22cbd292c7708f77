// Sleeping: a task waits for a time, and its worker runs others meanwhile.
#pragma once

#include <chrono>
#include <stop_token>

#include <fult/sync/waiter.hpp>

namespace fult {

namespace detail {
FULT_API bool sleep_within(const wait_limits &limits); // false: a stop was requested before
} // namespace detail

namespace this_task {

// Suspends the task for so long at least, as std::this_thread::sleep_for; at once where the duration is not
// positive. It goes on when a worker has noticed the time, which idle ones do within microseconds, busy ones
// within 32 scheduling decisions, and gets to it. On a foreign thread: blocks the thread. Throws
// std::system_error where a runtime's first timed wait lacks memory.
template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &duration) {
    detail::sleep_within(detail::wait_limits(detail::deadline_after(duration)));
}

// As sleep_for, until a time of any clock: that clock says so when it returns.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration> &time) {
    detail::attempt_until(time, [](auto deadline) {
        detail::sleep_within(detail::wait_limits(deadline));
        return false;
    });
}

// As sleep_for, until a stop is requested at most. False: that was before the time had passed.
template <class Rep, class Period>
bool sleep_for(const std::chrono::duration<Rep, Period> &duration, const std::stop_token &stop) {
    return detail::sleep_within(detail::wait_limits(stop, detail::deadline_after(duration)));
}

// As sleep_until, until a stop is requested at most. False: that was before the time had come.
template <class Clock, class Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration> &time, const std::stop_token &stop) {
    bool over = true;
    detail::attempt_until(time, [&](auto deadline) {
        over = detail::sleep_within(detail::wait_limits(stop, deadline));
        return !over;
    });
    return over;
}

} // namespace this_task
} // namespace fult
