// Locks that are contended: the owner gives the processor up inside. Each kind, from members and from tasks;
// a lock is freed by the last that needs it, while others that released it may still be in their call.
#include <omp.h>
#include <sched.h>
#include <string.h>

#include "check.h"

enum { entries = 600 };

// Gives the processor up in some of the entries.
static void inside(int i, int *owners, long *count) {
    CHECK(++*owners == 1);
    if (i % 3 == 0)
        sched_yield();
    ++*count;
    CHECK(--*owners == 0);
}

static void of_members(int members) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    long count[4] = {0};
    int owners[4] = {0};
#pragma omp parallel num_threads(members)
    for (int i = 0; i < entries; ++i) {
#pragma omp critical(first)
        inside(i, &owners[0], &count[0]);
        omp_set_lock(&lock);
        inside(i + 1, &owners[1], &count[1]);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        inside(i + 2, &owners[2], &count[2]);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock)) { // free, maybe with waiters
            inside(i, &owners[1], &count[1]);
            omp_unset_lock(&lock);
#pragma omp atomic
            ++count[3];
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    const long all = (long)entries * members;
    CHECK(count[0] == all && count[1] == all + count[3] && count[2] == all);
}

// Of tasks, which share the threads with those that wait.
static void of_tasks(int members) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    long count = 0;
    int owners = 0;
#pragma omp parallel num_threads(members)
#pragma omp single
    for (int i = 0; i < entries; ++i)
#pragma omp task shared(count, owners) firstprivate(i)
    {
        omp_set_lock(&lock);
        inside(i, &owners, &count);
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    CHECK(count == entries);
}

struct object {
    omp_lock_t lock;
    int users;
};
static void freed(int members) {
    for (int round = 0; round < entries; ++round) {
        struct object *const o = malloc(sizeof *o);
        omp_init_lock(&o->lock);
        o->users = -1;
#pragma omp parallel num_threads(members)
        {
#pragma omp single
            o->users = omp_get_num_threads();
            omp_set_lock(&o->lock);
            if (round % 4 == 0)
                sched_yield();
            const int left = --o->users;
            omp_unset_lock(&o->lock);
            if (left == 0) {
                omp_destroy_lock(&o->lock);
                memset(o, 0xff, sizeof *o);
                free(o);
            }
        }
    }
}

int main(void) {
    const int members = omp_get_max_threads();
    of_members(members);
    of_members(members + 1);
    of_tasks(members);
    freed(members);
    return 0;
}
