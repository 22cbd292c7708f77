// What the workers of the running runtime do: for tests of what happens while they sleep in the kernel.
#pragma once

#include "fult/scheduler/team.hpp"
#include "support.hpp"

namespace fult::testing {

// Blocks the calling thread until `count` workers sleep in the kernel.
inline void spin_until_asleep(unsigned count) {
    const detail::worker_team &team = *detail::running_team();
    spin_until([&] { return team.sleepers.count() >= count; });
}

} // namespace fult::testing
