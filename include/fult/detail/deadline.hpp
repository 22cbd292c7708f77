// Converts durations and times of any clock to deadlines on the steady clock, for every timed call.
// Conversions saturate: a time beyond the steady clock's range becomes the end of that range, and
// not-a-number becomes a time that has passed. Internal to the library.
#pragma once

#include <fult/detail/language.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace fult::detail {

using steady_clock = std::chrono::steady_clock;

// Nanoseconds of any clock since any epoch, saturated at +-`endless`: the difference of two never overflows.
__extension__ using wide_nanoseconds = __int128;
inline constexpr wide_nanoseconds endless = wide_nanoseconds{1} << 120;

enum class rounding { down, up };

// `count` periods of num / den seconds. The caller ensures that the result is in range.
template <rounding Direction>
constexpr wide_nanoseconds scaled_exactly(wide_nanoseconds count, std::intmax_t num, std::intmax_t den) {
    constexpr wide_nanoseconds second = 1'000'000'000;
    const wide_nanoseconds total = count * num; // below 2^64 * 2^63
    wide_nanoseconds whole = total / den, rest = total % den;
    if (rest < 0) {
        --whole;
        rest += den;
    }
    const wide_nanoseconds part = rest * second;
    return whole * second + (part + (Direction == rounding::up ? den - 1 : 0)) / den;
}

template <rounding Direction>
constexpr wide_nanoseconds scaled_roughly(long double count, long double factor) {
    const long double value = count * factor;
    if (!(value > -static_cast<long double>(endless))) // or not a number
        return -endless;
    if (value >= static_cast<long double>(endless))
        return endless;
    const auto whole = static_cast<wide_nanoseconds>(value); // towards zero
    const auto back = static_cast<long double>(whole);
    if (Direction == rounding::up)
        return back < value ? whole + 1 : whole;
    return back > value ? whole - 1 : whole;
}

// Any duration, rounded in the given direction.
template <rounding Direction, class Rep, class Period>
constexpr wide_nanoseconds to_nanoseconds(const std::chrono::duration<Rep, Period> &duration) {
    constexpr long double factor = static_cast<long double>(Period::num) / Period::den * 1e9L;
    if constexpr (std::is_integral_v<Rep> && sizeof(Rep) <= sizeof(std::int64_t)) {
        constexpr std::intmax_t second = 1'000'000'000, most = (std::numeric_limits<std::intmax_t>::max)();
        if constexpr (second % Period::den == 0 && Period::num <= most / (second / Period::den))
            return std::clamp(wide_nanoseconds{duration.count()} * (Period::num * (second / Period::den)),
                              -endless, endless); // common case: no division
        const long double about = static_cast<long double>(duration.count()) * factor;
        if (about >= static_cast<long double>(endless))
            return endless;
        if (about <= -static_cast<long double>(endless))
            return -endless;
        return scaled_exactly<Direction>(duration.count(), Period::num, Period::den);
    } else if constexpr (std::is_floating_point_v<Rep>) {
        return scaled_roughly<Direction>(static_cast<long double>(duration.count()), factor);
    } else { // a class, or a wider integer
        using counted = std::chrono::duration<long double, Period>;
        return scaled_roughly<Direction>(std::chrono::duration_cast<counted>(duration).count(), factor);
    }
}

// A time point, in nanoseconds since the steady clock's epoch, clamped to its range.
constexpr steady_clock::time_point steady_time(wide_nanoseconds since_epoch) {
    static_assert(std::is_same_v<steady_clock::duration, std::chrono::nanoseconds>);
    constexpr auto latest = (std::numeric_limits<std::chrono::nanoseconds::rep>::max)();
    if (since_epoch >= latest)
        return (steady_clock::time_point::max)();
    if (since_epoch <= 0) // before the start of the system
        return steady_clock::time_point();
    return steady_clock::time_point(
        std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(since_epoch)));
}

// The time point `left` from now.
inline steady_clock::time_point steady_time_after(wide_nanoseconds left) {
    const auto now = steady_clock::now();
    return left <= 0 ? now : steady_time(to_nanoseconds<rounding::down>(now.time_since_epoch()) + left);
}

// The time point `duration` from now, clamped to the range; now if the duration is not positive.
template <class Rep, class Period>
steady_clock::time_point deadline_after(const std::chrono::duration<Rep, Period> &duration) {
    return steady_time_after(to_nanoseconds<rounding::up>(duration));
}

// The time until that clock reaches the time point; not positive if it has.
template <class Clock, class Duration>
wide_nanoseconds left_until(const std::chrono::time_point<Clock, Duration> &time) {
    return to_nanoseconds<rounding::up>(time.time_since_epoch()) -
           to_nanoseconds<rounding::down>(Clock::now().time_since_epoch());
}

// True if its clock has reached the time.
template <class Clock, class Duration> bool has_come(const std::chrono::time_point<Clock, Duration> &time) {
    return left_until(time) <= 0;
}

// The time converted to the steady clock, according to both clocks' present values.
template <class Clock, class Duration>
steady_clock::time_point steady_deadline(const std::chrono::time_point<Clock, Duration> &time) {
    if constexpr (std::is_same_v<Clock, steady_clock>)
        return steady_time(to_nanoseconds<rounding::up>(time.time_since_epoch()));
    else
        return steady_time_after(left_until(time));
}

// Calls attempt(steady deadline) until the result converts to true or the clock has reached the time: clocks
// may be set, and run at different rates. An attempt that can no longer succeed (a closed channel) must
// return true.
template <class Clock, class Duration, class Attempt>
auto attempt_until(const std::chrono::time_point<Clock, Duration> &time, const Attempt &attempt) {
    for (;;) {
        auto result = attempt(steady_deadline(time));
        if (result || has_come(time))
            return result;
    }
}

} // namespace fult::detail
