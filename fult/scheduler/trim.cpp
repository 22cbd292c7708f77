// Gives memory that is idle after a burst of tasks back to the system (fult/inspect.hpp; worker::trim).
#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/inspect.hpp>

#include "worker.hpp"

namespace fult {

void trim() noexcept {
    if (detail::in_forked_child())
        return;
    const detail::team_guard stays;
    detail::worker_team *team = detail::running_team();
    if (!team)
        return;
    detail::worker *here = detail::this_worker();
    for (unsigned i = 0; i < team->count(); ++i) {
        detail::worker *w = team->homes[i];
        if (here && w == here) {
            here->trim();
            continue;
        }
        w->request_flags.fetch_or(detail::trim_requested,
                                  std::memory_order_seq_cst); // pairs with trim_as_requested
        team->wake(i);
    }
    team->foreign_home().slots.trim_shared();
    team->stacks.trim();
}

namespace detail {

// Called by the owner. Its own stacks go to the pool, which decides how many it keeps.
void worker::trim() noexcept {
    FULT_ASSERT(this_worker() == this);
    stacks_.trim();
    slots.trim_own();
    slots.trim_shared();
    team.stacks.trim();
}

void worker::trim_as_requested() noexcept {
    request_flags.fetch_and(~std::uint32_t{trim_requested},
                            std::memory_order_seq_cst); // pairs with fult::trim
    trim();
}

} // namespace detail
} // namespace fult
