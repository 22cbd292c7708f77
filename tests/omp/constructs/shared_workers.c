// Threads of a team wait for a lock that one of them holds across the end of a taskgroup, also where threads
// share the workers that there are: what is in the taskgroup runs all the same.
// again with: FULT_WORKERS=1
// again with: FULT_WORKERS=2
#include <omp.h>

#include "check.h"

enum { entries = 20, children = 4 };

static omp_lock_t lock;

static void generate_nested(int n, int *ran) {
    for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(ran)
        {
#pragma omp task firstprivate(ran)
            {
#pragma omp atomic
                ++*ran;
            }
        }
    }
}

static void run_group(int n, int *ran) {
#pragma omp taskgroup
    {
        generate_nested(n, ran);
#pragma omp taskyield
    }
    CHECK(*ran == n);
}

static void lock_waiting(void) { omp_set_lock(&lock); }

static void lock_polling(void) {
    while (!omp_test_lock(&lock)) {
#pragma omp taskyield
    }
}

// The owner has the lock when the others ask for it.
static void held_by(int owner, void (*ask)(void)) {
    int ran = 0;
#pragma omp parallel shared(ran)
    {
        const int owns = omp_get_thread_num() == owner;
        if (owns)
            omp_set_lock(&lock);
#pragma omp barrier
        if (owns)
            run_group(children, &ran);
        else
            ask();
        omp_unset_lock(&lock);
    }
    CHECK(ran == children);
}

// All of them hold it in turn.
static void in_critical(void) {
    int total = 0, threads = 0;
#pragma omp parallel shared(total) reduction(+ : threads)
    {
        threads = 1;
        for (int i = 0; i < entries; i++) {
#pragma omp critical
            {
                int ran = 0;
                run_group(children, &ran);
                total += ran;
            }
        }
    }
    CHECK(total == threads * entries * children);
}

// Of tasks: each holds the lock.
static void in_tasks(void (*ask)(void)) {
    int total = 0;
#pragma omp parallel shared(total)
#pragma omp single
    for (int i = 0; i < entries; i++) {
#pragma omp task shared(total) firstprivate(ask)
        {
            int ran = 0;
            ask();
            run_group(children, &ran);
            total += ran;
            omp_unset_lock(&lock);
        }
    }
    CHECK(total == entries * children);
}

int main(void) {
    omp_init_lock(&lock);
    const int last = omp_get_max_threads() - 1;
    for (int round = 0; round < 8; round++) {
        held_by(last, lock_waiting);
        held_by(0, lock_waiting);
        held_by(last, lock_polling);
        held_by(0, lock_polling);
        in_critical();
        in_tasks(lock_waiting);
        in_tasks(lock_polling);
    }
    return 0;
}
