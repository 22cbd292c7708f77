// The forms of a wait: without a limit, a single check (look), with a time of any size and clock, with a stop
// token.
#pragma once

#include <chrono>
#include <stop_token>

#include "program.hpp"

namespace random_programs {

// How a wait ended, and whether it had to succeed: where it has no limit, or one far away.
struct waited {
    bool got;
    bool had_to;
};

using far_hours = std::chrono::duration<long long, std::ratio<3600>>;
using hour_clock_time = std::chrono::time_point<std::chrono::system_clock, far_hours>;

// The forms of wait_in_some_form between these two have times at the ends of what their types can hold.
inline constexpr unsigned first_extreme = 7, first_near = 16;

// Draws one of: plain(), look(), for_time(duration), until(time point), with_stop(token). Each returns true
// if the wait succeeded.
template <class Plain, class Look, class For, class Until, class Stop>
waited wait_in_some_form(actor &a, const Plain &plain, const Look &look, const For &for_time,
                         const Until &until, const Stop &with_stop) {
    using namespace std::chrono;
    const unsigned form = a.random.below(24);
    const auto may = [](bool got) { return waited{got, false}; };
    const auto must = [form](bool got) {
        check(got, "a wait without a limit that is near has returned empty-handed (form %u)", form);
        return waited{got, true};
    };
    if (form < first_extreme || form >= first_near || a.in.how.extreme_times)
        switch (form) {
        case 0:
            return may(look());
        case 1:
            return may(for_time(0ns));
        case 2:
            return may(for_time(-1h));
        case 3:
            return may(for_time(nanoseconds(a.random.below(2000)))); // time: either order is right
        case 4:
            return may(for_time(microseconds(a.random.below(300)))); // time: either order is right
        case 5:
            return may(for_time(duration<double, std::micro>(0.5)));
        case 6:
            return must(for_time(1000h)); // time: given, never reached
        case first_extreme:
            return must(for_time(nanoseconds::max()));
        case 8:
            return must(for_time(far_hours::max()));
        case 9:
            return may(for_time(nanoseconds::min()));
        case 10:
            return may(until(steady_clock::time_point::min()));
        case 11:
            return may(until(system_clock::time_point::min()));
        case 12:
            return may(until(hour_clock_time::min()));
        case 13:
            return must(until(steady_clock::time_point::max()));
        case 14:
            return must(until(system_clock::time_point::max()));
        case 15:
            return must(until(hour_clock_time::max()));
        case first_near:
            // time: either order is right
            return may(until(steady_clock::now() + microseconds(a.random.below(200))));
        case 17:
            return must(until(system_clock::now() + 1000h)); // time: given, never reached
        case 18: {
            std::stop_source stop;
            stop.request_stop();
            return may(with_stop(stop.get_token()));
        }
        case 19: {
            std::stop_source stop;
            return must(with_stop(stop.get_token()));
        }
        case 20:
            return must(with_stop(std::stop_token()));
        default:
            break;
        }
    return must(plain());
}

// In some form, again and again, until it got it.
template <class Plain, class Look, class For, class Until, class Stop>
void wait_until_it_has(actor &a, const Plain &plain, const Look &look, const For &for_time,
                       const Until &until, const Stop &with_stop) {
    for (int tries = 0; tries < 4; ++tries) {
        if (wait_in_some_form(a, plain, look, for_time, until, with_stop).got)
            return;
        if (a.random.one_in(2))
            a.pause();
    }
    plain();
}

} // namespace random_programs
