/// @file
/// Sleeping: the task is suspended, and its worker runs other tasks.
#pragma once

#include <chrono>
#include <stop_token>
#include <type_traits>

#include <fult/detail/mistake.hpp>
#include <fult/detail/waiter.hpp>

namespace fult {

/// @cond internal
namespace detail {
FULT_API bool sleep_within(const wait_limits &limits); // false: a stop was requested first
} // namespace detail
/// @endcond

namespace this_task {

/// Suspends the task for at least the duration, as std::this_thread::sleep_for; returns at once if the
/// duration is not positive. The task resumes after a worker has seen the time, which idle workers do within
/// microseconds and busy ones within 32 scheduling decisions, and has scheduled it. On a foreign thread:
/// blocks. Throws std::system_error if the memory for a runtime's first timed wait cannot be allocated.
template <class Rep, class Period> void sleep_for(const std::chrono::duration<Rep, Period> &duration) {
    detail::sleep_within(detail::wait_limits(detail::deadline_after(duration)));
}

/// @cond internal
// Without a unit.
template <class Number, class... Stop>
requires std::is_arithmetic_v<Number>
bool sleep_for(Number, const Stop &...) {
    static_assert(detail::mistake<Number>,
                  "fult::this_task::sleep_for: a number has no unit: pass a duration, such as "
                  "std::chrono::milliseconds(100)");
    return false;
}
/// @endcond

/// As sleep_for. Returns false if a stop is requested first.
template <class Rep, class Period>
bool sleep_for(const std::stop_token &stop, const std::chrono::duration<Rep, Period> &duration) {
    return detail::sleep_within(detail::wait_limits(stop, detail::deadline_after(duration)));
}

/// As sleep_for, until a time of any clock, which it has reached then. Returns false if a stop is requested
/// first.
template <class Clock, class Duration>
bool sleep_until(const std::stop_token &stop, const std::chrono::time_point<Clock, Duration> &time) {
    bool over = true;
    detail::attempt_until(time, [&](auto deadline) {
        over = detail::sleep_within(detail::wait_limits(stop, deadline));
        return !over;
    });
    return over;
}

/// As sleep_for, until a time of any clock; that clock has reached the time when it returns.
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration> &time) {
    sleep_until(std::stop_token(), time);
}

} // namespace this_task
} // namespace fult
