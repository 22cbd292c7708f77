// Short waits of a member for another one.
#pragma once

#include <sched.h>

#include <fult/detail/kernel.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/service.hpp>
#include <fult/this_task.hpp>

namespace fult::omp {

// A short wait on a worker, about a microsecond: true if the condition comes to hold while nothing else is
// ready there.
inline constexpr unsigned short_polls = 64;
template <class Condition>
bool comes_soon(const Condition &condition, unsigned looks = short_polls) noexcept {
    for (unsigned i = 0; i < looks; ++i) {
        if (condition())
            return true;
        if (i % 8 == 0 && detail::others_ready())
            return false;
        detail::cpu_relax();
    }
    return condition();
}

// Polls, and lets other tasks run.
template <class Condition> void poll_until(const Condition &condition) {
    for (unsigned i = 0; !condition(); ++i) {
        if (i < 100)
            detail::cpu_relax();
        else if (detail::running_task())
            this_task::yield();
        if (i % 256 == 255)
            ::sched_yield();
    }
}

} // namespace fult::omp
