#include "handed_off_chain.hpp"

#include "worker.hpp"

namespace fult::detail {

void handed_off_chain::push(worker &here, task *first, task *last) noexcept {
    FULT_ASSERT(this_worker() == &here, "only its worker pushes to a chain");
    FULT_ASSERT(is_handed_off(*first) && is_handed_off(*last));
    task *below = head_.load(std::memory_order_relaxed);
    if (is_deferred_lock(below)) {
        task *mine = below;
        below = nullptr;
        if (head_.compare_exchange_strong(mine, nullptr,
                                          std::memory_order_acq_rel)) // pairs with steal_stalled
            if (task *heir = transfer(here, mine)) {
                heir->next.store(nullptr, std::memory_order_relaxed);
                last->next.store(heir, std::memory_order_relaxed);
                last = heir;
            }
    }
    do
        last->next.store(below, std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(below, first,
                                        std::memory_order_seq_cst)); // pairs with steal_stalled
    notify(here);
}

bool handed_off_chain::defer_release(worker &here, void *lock, transfer_function transfer) noexcept {
    FULT_ASSERT(this_worker() == &here && here.current, "a task releases its lock");
    const worker_team &team = here.team;
    task *nothing = head_.load(std::memory_order_relaxed);
    if (nothing ||
        (team.stealing_disabled && team.count() > 1)) // the next owner may belong to another worker
        return false;
    transfer_.store(transfer, std::memory_order_relaxed);
    if (!head_.compare_exchange_strong(nothing, deferred_lock(lock), std::memory_order_seq_cst))
        return false;
    notify(here);
    return true;
}

void handed_off_chain::notify(const worker &here) noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    here.tasks.show();
    worker_team &team = here.team;
    // A worker in poll sleep polls soon. Waking it for each hand-off would cost more than the hand-off.
    if (team.sleepers.any() && team.poll_sleeping.load(std::memory_order_seq_cst) == 0) // pairs with park
        team.wake_for(here, false);
}

// Adopts the rest of a chain that was taken from another worker.
void handed_off_chain::adopt(worker &here, task *chain) noexcept {
    FULT_ASSERT(is_handed_off(*chain));
    if (!head_.load(std::memory_order_relaxed)) {
        head_.store(chain, std::memory_order_seq_cst); // only this worker pushes
        here.tasks.show();
        here.team.wake_for(here, false);
        return;
    }
    task *last = chain;
    while (task *below = last->next.load(std::memory_order_relaxed))
        last = below;
    push(here, chain, last);
}

// Steals the chain of a worker if its first task has not changed since this thief's last check; the rest of
// the chain is handed off to the thief itself. If the first task has changed, the next worker is checked:
// chains that make progress must not hide one that does not.
task *handed_off_chain::steal_stalled(worker &here) noexcept {
    const worker_team &team = here.team;
    if (team.stealing_disabled)
        return nullptr;
    handed_off_chain &victim = team.homes[watched_victim_]->handed_off();
    if (watched_first_ && victim.count() == watched_count_ &&
        victim.head_.load(std::memory_order_acquire) == watched_first_)
        if (task *first =
                victim.head_.exchange(nullptr, std::memory_order_acq_rel)) { // pairs with push, take_at_once
            watched_first_ = nullptr;
            if (is_deferred_lock(first))
                return victim.transfer(here, first);
            if (task *rest = first->next.load(std::memory_order_relaxed))
                adopt(here, rest);
            return first;
        }
    watched_first_ = nullptr;
    for (unsigned i = 0; i < team.count() && i <= neighbours::max_neighbours && !watched_first_; ++i) {
        const int next_victim = team.crowd.exists() ? team.crowd.shown.next(watched_victim_)
                                                    : static_cast<int>((watched_victim_ + 1) % team.count());
        if (next_victim < 0)
            break;
        watched_victim_ = static_cast<unsigned>(next_victim);
        const handed_off_chain &next = team.homes[watched_victim_]->handed_off();
        watched_first_ = next.head_.load(std::memory_order_acquire);
        watched_count_ = next.count();
    }
    return nullptr;
}

// Takes the oldest task: newer ones may hand off to each other forever. The walk to the end of a long chain
// costs a cache miss per task, so it is done rarely.
task *handed_off_chain::take_fair(worker &here) noexcept {
    constexpr unsigned far = 32, seldom = 16;
    if (++fair_turns_ % seldom != 0) {
        const task *t = head_.load(std::memory_order_acquire);
        for (unsigned i = 0; t && !is_deferred_lock(t) && i < far; ++i)
            t = t->next.load(std::memory_order_relaxed); // a thief may have taken it: then this is any chain
        if (t && !is_deferred_lock(t))
            return take_at_once(here);
    }
    task *newest = head_.exchange(nullptr, std::memory_order_acq_rel); // pairs with steal_stalled
    if (!newest)
        return nullptr;
    if (is_deferred_lock(newest))
        return transfer(here, newest);
    task *oldest = newest, *above = nullptr;
    while (task *below = oldest->next.load(std::memory_order_relaxed)) {
        above = oldest;
        oldest = below;
    }
    if (above) {
        above->next.store(nullptr, std::memory_order_relaxed);
        head_.store(newest, std::memory_order_seq_cst); // empty until now: only this worker pushes
        here.tasks.show();
    }
    return oldest;
}

} // namespace fult::detail
