// While a tied task waits, its thread begins none but its descendants, and the task goes on when these
// have ended. So a mutex of the system may be held across any wait of OpenMP's, and data of the thread stay:
// a task that finds the mutex locked by its own thread has begun, or gone on, in the wrong place.
// again with: FULT_MAX_TASKS=256
// libraries: -pthread
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>

#include "checked_mutex.h"

enum { siblings = 24, children = 6, rounds = 10 };

static omp_lock_t lock;
static int ran;
static int owner; // of the thread: the task that holds the mutex there
#pragma omp threadprivate(owner)

static void hold(void) {
    lock_mutex();
    CHECK(owner == 0);
    owner = 1;
}

static void let_go(void) {
    CHECK(owner == 1);
    owner = 0;
    ran++;
    unlock_mutex();
}

// Long enough for other threads to take some.
static void work(void) {
    for (volatile int i = 0; i < 2000; i++)
        ;
}

static void generate(int n) {
    for (int i = 0; i < n; i++) {
#pragma omp task
        work();
    }
}

static void in_taskwait(void) {
    generate(children);
#pragma omp taskwait
}

static void in_taskgroup(void) {
#pragma omp taskgroup
    {
        for (int i = 0; i < children; i++) {
#pragma omp task
            generate(2); // ended by the taskgroup alone
        }
    }
}

static void in_taskloop(void) {
#pragma omp taskloop num_tasks(children)
    for (int i = 0; i < children; i++)
        work();
}

static void in_taskyield(void) {
    generate(children);
    for (int i = 0; i < children; i++) {
#pragma omp taskyield
    }
}

static void in_generation(void) { generate(100); }

static void in_undeferred_task(void) {
#pragma omp task if (0)
    in_taskwait();
}

static void in_untied_task(void) {
#pragma omp task untied if (0)
    in_taskwait();
}

static void in_dependence(void) {
    int x = 0;
#pragma omp task depend(out : x) shared(x)
    {
        work();
        x = 1;
    }
#pragma omp task depend(in : x) shared(x) if (0)
    CHECK(x == 1);
}

// Tasks take the lock without the mutex too, so it is contended.
static void in_lock(void) {
    omp_set_lock(&lock);
    work();
    omp_unset_lock(&lock);
}

static void in_critical(void) {
#pragma omp critical(contended)
    work();
}

static void in_region(void) {
#pragma omp parallel num_threads(2)
    work();
}

static void (*const waits[])(void) = {in_taskwait,   in_taskgroup,       in_taskloop,    in_taskyield,
                                      in_generation, in_undeferred_task, in_untied_task, in_dependence,
                                      in_lock,       in_critical,        in_region};
enum { kinds = sizeof waits / sizeof *waits };

// One thread of a team generates siblings, each by a call.
static void generate_siblings(void (*one)(int i, int kind), int kind, int runs) {
    for (int round = 0; round < rounds; round++) {
        ran = 0;
#pragma omp parallel
#pragma omp single
        for (int i = 0; i < siblings; i++)
            one(i, kind);
        CHECK(ran == runs * siblings);
    }
}

static void hold_across(int i, int kind) {
#pragma omp task firstprivate(kind)
    {
        hold();
        waits[kind]();
        let_go();
    }
    if (i % 3 == 0) {
#pragma omp task
        {
            in_lock();
            in_critical();
        }
    }
}

// A grandchild holds the mutex in a wait, which the taskwait above does not wait for: the task that goes on
// then wants the mutex.
static void go_on_above(int i, int kind) {
    (void)i;
    (void)kind;
#pragma omp task
    {
#pragma omp task
        {
#pragma omp task
            {
                hold();
                in_taskwait();
                let_go();
            }
        }
#pragma omp taskwait
        hold();
        let_go();
    }
}

int main(void) {
    init_mutex();
    omp_init_lock(&lock);
    for (int kind = 0; kind < kinds; kind++)
        generate_siblings(hold_across, kind, 1);
    generate_siblings(go_on_above, 0, 2);
    return 0;
}
