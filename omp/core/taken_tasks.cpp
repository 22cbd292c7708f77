#include "taken_tasks.hpp"

#include <algorithm>
#include <limits>

#include <fult/detail/service.hpp>

#include "join_gate.hpp"
#include "wait.hpp"

namespace fult::omp {

void taken_tasks::ran(std::uint64_t ticks) noexcept {
    average_ = (7 * average_ + std::min(ticks, 16 * worth_taking)) / 8;
    if (!are_small())
        steps_ = 1;
}

void taken_tasks::pause(unsigned home) noexcept {
    // About fifty microseconds: a thread that only generates makes some decisions in that time.
    constexpr std::uint64_t step = 64 * worth_taking;
    constexpr unsigned max_steps = 8;
    if (join_gate::has_little_patience()) // the time may be the other thread's
        return;
    const unsigned steps = home == no_worker ? 1 : steps_;
    for (unsigned i = 0; i < steps; ++i) {
        const std::uint64_t begin = detail::ticks();
        const std::uint32_t decisions = home == no_worker ? 0 : detail::decisions_of(home);
        const auto is_over = [&] { return detail::ticks() - begin > step; };
        if (!comes_soon(is_over, std::numeric_limits<unsigned>::max()))
            return; // others are ready here
        home_is_still_ = home != no_worker && detail::decisions_of(home) == decisions;
        if (home_is_still_) {
            steps_ = 1;
            return;
        }
    }
    steps_ = std::min(2 * steps, max_steps);
}

} // namespace fult::omp
