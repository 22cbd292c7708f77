// Constructs with nowait: one member runs any number of them ahead of the others, which wait for it. Each
// construct counts what it has done, and is looked at when the region is over.
// libomp alone has a bound, of
// environment: KMP_DISP_NUM_BUFFERS=1200
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { most = 1000 };

// A chain of constructs, met by one team. Each has a number of its own.
struct chain {
    int constructs;
    uint64_t seed;    // of all that is chosen by chance; 0: all are alike
    int count[most];  // iterations that have run
    int order[most];  // ordered constructs: the iteration that comes next
    int out_of_order; // iterations that came at another time
    int position;     // the constructs that the leader has passed
};

static uint64_t random_of(const struct chain *c, int k, int what) {
    uint64_t x = c->seed + 1000003u * (uint64_t)k + 7919u * (uint64_t)what;
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}
static int iterations(const struct chain *c, int k) { return c->seed ? (int)(random_of(c, k, 1) % 40) : 10; }

static void done(struct chain *c, int k) {
#pragma omp atomic
    ++c->count[k];
}
static void done_in_order(struct chain *c, int k, int i) {
    if (c->order[k]++ != i)
#pragma omp atomic
        ++c->out_of_order;
    done(c, k);
}

// What is done once, by any member, whatever the number of iterations: these do all of them.
static void once(struct chain *c, int k) {
    for (int i = 0; i < iterations(c, k); ++i)
        done(c, k);
}

#ifndef __clang__
static int sum, last; // never read: several constructs write them
#endif

enum kind {
    fixed,
    fixed_chunks,
    dynamic,
    guided,
    runtime,
    wide,
    ordered,
    doacross,
    sections,
    singles,
    scope,
    conditional,
    kinds
};

static void construct(struct chain *c, int k, enum kind kind) {
    const int n = iterations(c, k), chunk = 1 + (int)(random_of(c, k, 2) % 5);
    switch (kind) {
    case fixed:
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; ++i)
            done(c, k);
        break;
    case fixed_chunks:
#pragma omp for schedule(static, chunk) nowait
        for (int i = 0; i < n; ++i)
            done(c, k);
        break;
    case dynamic:
#pragma omp for schedule(dynamic, chunk) nowait
        for (int i = 0; i < n; ++i)
            done(c, k);
        break;
    case guided:
#pragma omp for schedule(guided, chunk) nowait
        for (int i = n; i > 0; --i)
            done(c, k);
        break;
    case runtime: {
        static const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided,
                                                omp_sched_auto};
        omp_set_schedule(schedules[random_of(c, k, 3) % 4], chunk);
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < n; ++i)
            done(c, k);
        break;
    }
    case wide:
#pragma omp for schedule(monotonic : dynamic, chunk) collapse(2) nowait
        for (unsigned long long i = 0; i < (unsigned long long)n; ++i)
            for (int j = 0; j < 2; ++j)
                if (j == 1)
                    done(c, k);
        break;
    case ordered:
#pragma omp for schedule(dynamic, chunk) ordered nowait
        for (int i = 0; i < n; ++i)
#pragma omp ordered
            done_in_order(c, k, i);
        break;
    case doacross:
#pragma omp for schedule(monotonic : dynamic, chunk) ordered(1) nowait
        for (int i = 0; i < n; ++i) {
#pragma omp ordered depend(sink : i - 1)
            done_in_order(c, k, i);
#pragma omp ordered depend(source)
        }
        break;
    case sections:
#pragma omp sections nowait
    {
#pragma omp section
        once(c, k);
#pragma omp section
        ;
#pragma omp section
        ;
    } break;
    case singles:
#pragma omp single nowait
        once(c, k);
        break;
    case scope:
#ifdef __clang__ // it has no scope, and libomp's reductions wait for others
        construct(c, k, guided);
#else
#pragma omp scope reduction(+ : sum) nowait
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            once(c, k);
#endif
        break;
    default:
#ifdef __clang__ // its lastprivate has a barrier
        construct(c, k, dynamic);
#else
#pragma omp for schedule(dynamic, chunk) lastprivate(conditional : last) nowait
        for (int i = 0; i < n; ++i) {
            done(c, k);
            if (i % 3 == 0)
                last = i;
        }
#endif
    }
}

static void begin(struct chain *c, int constructs, uint64_t seed) {
    memset(c, 0, sizeof *c);
    c->constructs = constructs;
    c->seed = seed;
}
static void check(const struct chain *c) {
    for (int k = 0; k < c->constructs; ++k)
        CHECK(c->count[k] == iterations(c, k));
    CHECK(c->out_of_order == 0);
}

// Ways to wait for the member that runs ahead.
enum way { by_lock, by_critical, by_taskyield, by_flag, ways };

static struct chain chain;
static int flag, is_inside;
static omp_lock_t lock;

static int get(const int *at) {
    int value;
#pragma omp atomic read acquire
    value = *at;
    return value;
}
static void set(int *at, int value) {
#pragma omp atomic write release
    *at = value;
}

static void wait_for_flag(void) {
    while (!get(&flag))
        sched_yield();
}
static void wait_for_first(enum way way) {
    switch (way) {
    case by_lock:
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        break;
    case by_critical: // one of them is inside, the others wait for it
#pragma omp critical(held)
    {
        set(&is_inside, 1);
        wait_for_flag();
    } break;
    case by_taskyield:
        while (!get(&flag)) {
#pragma omp taskyield
        }
        break;
    default:
        wait_for_flag();
    }
}

static void one_ahead(enum kind kind, enum way way, int by, int members) {
    begin(&chain, by, 0);
    flag = is_inside = 0;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
#pragma omp parallel num_threads(members)
    {
        const int is_first = omp_get_thread_num() == 0;
        if (!is_first)
            wait_for_first(way);
        else if (way == by_critical && omp_get_num_threads() > 1)
            while (!get(&is_inside))
                sched_yield();
        for (int k = 0; k < by; ++k)
            construct(&chain, k, kind);
        if (is_first) {
            set(&flag, 1);
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    check(&chain);
}

static void each_kind(int members) {
    static const int numbers[] = {1, 15, 16, 17, 33};
    for (int kind = 0; kind < kinds; ++kind) {
        for (int way = 0; way < ways; ++way)
            for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i)
                one_ahead((enum kind)kind, (enum way)way, numbers[i], members);
        one_ahead((enum kind)kind, by_lock, most, members);
    }
}

// Constructs by chance, with a barrier after some of them. Up to it one member goes on, whatever the others
// do; these wait now and then until it is some constructs ahead.
static void random_constructs(struct chain *c, int yields) {
    const int me = omp_get_thread_num();
    for (int from = 0, to = 0; from < c->constructs; from = to) {
        to = from + 1 + (int)(random_of(c, from, 4) % 80);
        if (to > c->constructs)
            to = c->constructs;
        const int leader = (int)(random_of(c, from, 5) % (uint64_t)omp_get_num_threads());
        for (int k = from; k < to; ++k) {
            if (me != leader && random_of(c, k, 100 + me) % 8 == 0) {
                const int ahead = k + 1 + (int)(random_of(c, k, 200 + me) % 60);
                while (get(&c->position) < (ahead < to ? ahead : to))
                    if (yields)
                        sched_yield();
                    else {
#pragma omp taskyield
                    }
            }
            construct(c, k, (enum kind)(random_of(c, k, 6) % kinds));
            if (me == leader)
                set(&c->position, k + 1);
        }
#pragma omp barrier
    }
}

static void chains(int members) {
    const int sizes[] = {members, 2, members + 1, 1, members, 3};
    for (int round = 0; round < 60; ++round) {
        begin(&chain, 200, (uint64_t)round + 1);
#pragma omp parallel num_threads(sizes[round % 6])
        random_constructs(&chain, omp_get_num_threads() <= members && round % 2);
        check(&chain);
    }
}

// Inner teams, each with a member ahead. Threads are shared, so the others wait for a lock.
static void nested(int members) {
    static struct chain inner[4];
    omp_set_max_active_levels(2);
    for (int round = 0; round < 10; ++round) {
        for (int i = 0; i < 4; ++i)
            begin(&inner[i], 150, (uint64_t)(100 + 4 * round + i));
#pragma omp parallel for num_threads(2) schedule(static, 1)
        for (int i = 0; i < 4; ++i) {
            omp_lock_t ahead;
            omp_init_lock(&ahead);
            omp_set_lock(&ahead);
#pragma omp parallel num_threads(members < 3 ? members : 3)
            {
                if (omp_get_thread_num() != 0) {
                    omp_set_lock(&ahead);
                    omp_unset_lock(&ahead);
                }
                for (int k = 0; k < inner[i].constructs; ++k)
                    construct(&inner[i], k, (enum kind)(random_of(&inner[i], k, 6) % kinds));
                if (omp_get_thread_num() == 0)
                    omp_unset_lock(&ahead);
            }
            omp_destroy_lock(&ahead);
            check(&inner[i]);
        }
    }
    omp_set_max_active_levels(1);
}

int main(void) {
    const int members = omp_get_max_threads();
    each_kind(members);
    chains(members);
    nested(members);
    return 0;
}
