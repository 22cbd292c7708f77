// GOMP_*: parallel regions, teams, barriers, single, masked, critical, cancellation.
#include <algorithm>

#include "gnu.hpp"
#include "omp/core/cancel.hpp"
#include "omp/core/control.hpp"
#include "omp/core/icv.hpp"
#include "omp/core/locks.hpp"
#include "omp/core/reductions.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"

using namespace fult::omp;

extern "C" {

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags) {
    region_options with;
    with.bind = bind_of(flags);
    team *const t = open_region(fn, data, resolve_size(current_task(), threads), with);
    fn(data);
    close_region(t);
}

// The interface before gcc 4.9: the caller calls fn itself.
void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned threads) {
    open_region(fn, data, resolve_size(current_task(), threads));
}
void GOMP_parallel_end() { close_region(current_task()->in()); }

unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned threads, unsigned flags) {
    omp_task *const me = current_task();
    const unsigned size = resolve_size(me, threads);
    auto *const descriptors = *static_cast<std::uintptr_t **>(data);
    void *list = nullptr;
    register_reductions(list, descriptors, size);
    region_options with;
    with.bind = bind_of(flags);
    with.prepare = [](team &t, void *from) {
        for (unsigned i = 0; i < t.size; ++i)
            t.members[i].reductions = from;
    };
    with.prepare_with = descriptors;
    team *const t = open_region(fn, data, size, with);
    const unsigned members = t->size; // less than the size where a limit of threads is reached
    fn(data);
    close_region(t);
    return members;
}

void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned thread_limit, unsigned) {
    run_league(fn, data, teams, thread_limit);
}

// In a target region, whose initial task is each of the teams in turn.
static void limit_threads(unsigned limit) {
    if (limit != 0)
        change_icvs([limit](icv_set &v) { v.thread_limit = static_cast<int>(std::min(limit, 0x7fffffffu)); });
}
void GOMP_teams(unsigned, unsigned thread_limit) { limit_threads(thread_limit); }
bool GOMP_teams4(unsigned least, unsigned, unsigned thread_limit, bool first) {
    league_position &here = current_task()->in()->league;
    if (first) {
        limit_threads(thread_limit);
        here = {least != 0 ? least : 1, 0};
        return true;
    }
    if (here.number + 1 >= here.teams) {
        here = {};
        return false;
    }
    ++here.number;
    FULT_ASSERT(here.number < here.teams);
    return true;
}

// One in a function that the region calls has no other name, and ends with a cancelled region too.
void GOMP_barrier() { team_barrier(current_task()->self, barrier_kind::cancellable); }
bool GOMP_barrier_cancel() { return team_barrier(current_task()->self, barrier_kind::cancellable); }

bool GOMP_cancel(int which, bool request) { return cancel(current_task(), which, request); }
bool GOMP_cancellation_point(int which) { return cancellation_point(current_task(), which); }

bool GOMP_single_start() { return take_single(current_task()->self); }

// copyprivate: the one that executes it returns null here, and passes its data by GOMP_single_copy_end.
void *GOMP_single_copy_start() {
    omp_task *const me = current_task();
    if (take_single(me->self))
        return nullptr;
    team_barrier(me->self);
    void *const data = me->in()->copied;
    team_barrier(me->self); // the data may be overwritten from here on
    return data;
}
void GOMP_single_copy_end(void *data) {
    omp_task *const me = current_task();
    me->in()->copied = data;
    team_barrier(me->self);
    team_barrier(me->self);
}

namespace {
simple_lock unnamed_critical, atomic_lock;
static_assert(sizeof(simple_lock) <= sizeof(void *), "the name of a critical section is a pointer");
} // namespace
void GOMP_critical_start() { lock_set(&unnamed_critical); }
void GOMP_critical_end() { lock_unset(&unnamed_critical); }
void GOMP_critical_name_start(void **name) { lock_set(reinterpret_cast<simple_lock *>(name)); }
void GOMP_critical_name_end(void **name) { lock_unset(reinterpret_cast<simple_lock *>(name)); }
void GOMP_atomic_start() { lock_set(&atomic_lock); }
void GOMP_atomic_end() { lock_unset(&atomic_lock); }

// scope: a taskgroup for its reductions, which all members share.
void GOMP_scope_start(std::uintptr_t *reductions) { start_reductions(current_task(), reductions); }

} // extern "C"
