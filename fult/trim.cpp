// Memory that a burst of tasks has left behind goes back to the system (fult/inspect.hpp; worker::trim).
#include <utility>

#include <fult/inspect.hpp>

#include "fork_guard.hpp"
#include "worker.hpp"

namespace fult {

void trim() noexcept {
    if (detail::in_forked_child())
        return;
    const detail::team_guard stays;
    detail::team *crew = detail::running_team();
    if (!crew)
        return;
    detail::worker *here = detail::this_worker();
    for (unsigned i = 0; i < crew->count; ++i) {
        detail::worker *w = crew->homes[i];
        if (here && w == here) {
            here->trim();
            continue;
        }
        w->attention.fetch_or(detail::trim_wanted, std::memory_order_seq_cst); // pairs with trim_as_requested
        crew->wake(i);
    }
    crew->foreign_home().trim_shared();
    crew->stacks.trim();
}

namespace detail {

// By the owner. Stacks of its own go to the pool, which decides what it keeps.
void worker::trim() noexcept {
    if (stacks_) {
        crew.stacks.release(std::exchange(stacks_, nullptr));
        stack_count_ = 0;
    }
    slots_.trim();
    // As take_own_slot does: what others freed is here now.
    if (attention.load(std::memory_order_relaxed) & revoked)
        tasks.reconcile(0);
    trim_shared();
    crew.stacks.trim();
}

void worker::trim_as_requested() noexcept {
    attention.fetch_and(~std::uint32_t{trim_wanted}, std::memory_order_seq_cst); // pairs with fult::trim
    trim();
}

void worker::trim_shared() noexcept {
    shared_lock_.lock();
    shared_slots_.trim();
    shared_lock_.unlock();
}

} // namespace detail
} // namespace fult
