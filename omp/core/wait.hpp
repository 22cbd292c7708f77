// Short waits of a member for another one: polls, and lets other tasks run.
#pragma once

#include <sched.h>

#include <fult/detail/platform.hpp>
#include <fult/this_task.hpp>

namespace fult::omp {

template <class Condition> void poll_until(const Condition &condition) {
    for (unsigned i = 0; !condition(); ++i) {
        if (i < 100)
            detail::cpu_relax();
        else if (detail::current_worker()->current)
            this_task::yield();
        if (i % 256 == 255)
            ::sched_yield();
    }
}

} // namespace fult::omp
