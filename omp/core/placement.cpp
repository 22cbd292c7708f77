#include "placement.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include <fult/detail/assertion.hpp>

#include "holders.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

constinit std::atomic<std::uint64_t> placements{0}; // that have been chosen

// Where members may open regions of their own, the workers that are left are between them.
unsigned distance_of_members(const team &t, unsigned workers) noexcept {
    const unsigned available = workers - (t.avoids_worker_0 ? 1 : 0);
    return t.level == 1 && t.creator->icvs()->max_active_levels > 1 && available > t.size ? available / t.size
                                                                                          : 1;
}

// A worker for member i at this place: one without a member of this team, or else one that is bound nowhere
// yet, or else any. Null: there is none.
thread_state *worker_at(const team &t, int place, unsigned i) noexcept {
    thread_state *unbound = nullptr, *shared = nullptr;
    for (unsigned n = 0; n < t.workers; ++n) {
        const unsigned w = (i + n) % t.workers;
        if (w == 0 && t.avoids_worker_0)
            continue;
        thread_state *const at = worker_thread(w);
        const int bound = at->bound.load(std::memory_order_relaxed);
        if (bound == place && !t.on_worker[w])
            return at;
        if (bound == place && !shared)
            shared = at;
        if (bound < 0 && !t.on_worker[w] && !unbound)
            unbound = at;
    }
    return unbound ? unbound : shared;
}

// The worker of member i: they follow each other from the caller's on.
thread_state *chosen_worker(const team &t, const placement_input &by, unsigned i) noexcept {
    if (by.workers == 1)
        return worker_thread(0);
    const bool on_worker = by.caller->worker != thread_state::no_worker;
    if (!t.avoids_worker_0)
        return worker_thread((by.caller->worker + i * by.stride) % by.workers);
    return worker_thread(1 + ((on_worker ? by.caller->worker : 0) + i * by.stride - 1) % (by.workers - 1));
}

void put_on_workers(team &t) noexcept {
    std::fill_n(t.on_worker.get(), t.workers, nullptr);
    for (unsigned i = t.size; i-- > 0;)
        t.put_on_worker(t.members[i]);
}

} // namespace

void assign_threads(team &t, thread_state *caller, unsigned workers) {
    placement_input now{caller,
                        workers,
                        distance_of_members(t, workers),
                        t.avoids_worker_0,
                        t.holds_workers ? changes_of_holders() : 0,
                        t.creator->in()->placement};
    if (t.placed_by == now) [[likely]]
        return;
    FULT_ASSERT(t.size == 1 || workers != 0);
    t.members[0].at = caller;
    if (t.holds_workers) {
        const held_workers held =
            hold_workers(t, workers, caller, [&](unsigned i) { return chosen_worker(t, now, i); });
        now.workers = workers = held.workers;
        if (!held.is_complete)
            now.caller = nullptr; // the next region searches again
    } else {
        for (unsigned i = 1; i < t.size; ++i)
            t.members[i].at = chosen_worker(t, now, i);
    }
    t.placed_by = now;
    t.placement = placements.fetch_add(1, std::memory_order_relaxed) + 1;
    if (t.workers != workers) {
        t.on_worker = std::make_unique<team_member *[]>(workers);
        t.workers = workers;
    }
    for (unsigned i = 0; i < t.size; ++i) {
        [[maybe_unused]] const team_member &m = t.members[i];
        FULT_ASSERT(i == 0 || m.at->worker != thread_state::no_worker,
                    "the first alone may be a foreign thread");
        FULT_ASSERT(m.at->worker == thread_state::no_worker || m.at->worker < workers);
    }
    put_on_workers(t);
}

void bind_members(team &t, bind_policy policy) {
    const thread_state &caller = *t.members[0].at;
    const place_partition from = partition_of(*t.creator->self);
    const bool moves = t.level > 1 && !t.holds_workers;
    if (moves) {
        t.placed_by = {}; // members may move
        std::fill_n(t.on_worker.get(), t.workers, nullptr);
    }
    for (unsigned i = 0; i < t.size; ++i) {
        team_member &m = t.members[i];
        m.bind = bind_member(policy, from, caller.bound.load(std::memory_order_relaxed), i, t.size);
        if (moves && i != 0 && m.bind.place >= 0)
            if (thread_state *const at = worker_at(t, m.bind.place, i))
                m.at = at;
        if (moves)
            t.put_on_worker(m); // taken, for the next ones
    }
    if (moves)
        put_on_workers(t);
    t.begins_bound = policy != bind_policy::none && t.size <= std::max(t.workers, 1u);
    if (t.begins_bound)
        record_binding(t, policy);
}

} // namespace fult::omp
