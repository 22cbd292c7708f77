// Tasks hold a mutex of the system while they wait for a critical region or for a lock, and the task that has
// generated them locks it too, in between and below them: a thread that has the mutex does not ask for it
// again.
// libraries: -pthread
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "checked_mutex.h"

enum { tasks = 300, long_while = 1000 };

static omp_lock_t lock;
static omp_nest_lock_t nest_lock;
static int held, entered; // changed by the owner of the mutex, and by that of the lock

static void hold_once(void) {
    lock_mutex();
    held++;
    unlock_mutex();
}

// Long enough for others to wait.
static void work(void) {
    entered++;
    for (volatile int i = 0; i < 4000; i++)
        ;
}

static void in_critical(void) {
#pragma omp critical(contended)
    work();
}

static void in_lock(void) {
    omp_set_lock(&lock);
    work();
    omp_unset_lock(&lock);
}

static void in_nest_lock(void) {
    omp_set_nest_lock(&nest_lock);
    omp_set_nest_lock(&nest_lock);
    work();
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
}

static void in_polled_lock(void) {
    while (!omp_test_lock(&lock)) {
#pragma omp taskyield
    }
    work();
    omp_unset_lock(&lock);
}

static void in_polled_nest_lock(void) {
    while (!omp_test_nest_lock(&nest_lock)) {
#pragma omp taskyield
    }
    work();
    omp_unset_nest_lock(&nest_lock);
}

static void (*const waits[])(void) = {in_critical, in_lock, in_nest_lock, in_polled_lock,
                                      in_polled_nest_lock};
enum { kinds = sizeof waits / sizeof *waits };

// Every other task holds the mutex.
static void generate(void (*inside)(void)) {
    for (int i = 0; i < tasks; i++) {
        hold_once();
        if (i % 2 == 0) {
#pragma omp task firstprivate(inside)
            {
                lock_mutex();
                inside();
                unlock_mutex();
            }
        } else {
#pragma omp task firstprivate(inside)
            inside();
        }
    }
}

static void generate_in_single(void (*inside)(void)) {
#pragma omp parallel
#pragma omp single
    generate(inside);
}

static void generate_in_task(void (*inside)(void)) {
#pragma omp parallel
#pragma omp single
#pragma omp task
    generate(inside);
}

// Each thread generates, and waits for its tasks.
static void generate_in_each(void (*inside)(void)) {
#pragma omp parallel num_threads(3)
    {
        generate(inside);
#pragma omp taskwait
        hold_once();
    }
}

static void check_generators(void (*inside)(void)) {
    held = entered = 0;
    generate_in_single(inside);
    generate_in_task(inside);
    CHECK(held == 2 * tasks && entered == 2 * tasks);
    generate_in_each(inside);
    CHECK(held == 5 * tasks + 3 && entered == 5 * tasks);
}

// Here one thread keeps the lock until a task of the other one waits for it.
static atomic_int locked, waits_for_lock;

static void keep_lock(int waits_enough) {
    omp_set_lock(&lock);
    locked = 1;
    while (waits_for_lock < waits_enough)
        sched_yield();
    for (int i = 0; i < long_while; i++)
        sched_yield();
    omp_unset_lock(&lock);
}

static void await_lock(void) {
    lock_mutex();
    waits_for_lock = 1;
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    unlock_mutex();
}

static void poll_lock(void) {
    lock_mutex();
    while (!omp_test_lock(&lock)) {
        waits_for_lock++;
#pragma omp taskyield
    }
    omp_unset_lock(&lock);
    unlock_mutex();
}

// Goes on when the child, if it has begun above, has ended.
static void yield_to(void (*child)(void)) {
    while (!locked)
        sched_yield();
#pragma omp task firstprivate(child)
    child();
#pragma omp taskyield
    hold_once();
}

static void check_task_below(void (*child)(void), int waits_enough, int in_task) {
    locked = waits_for_lock = held = 0;
#pragma omp parallel num_threads(2)
    {
        CHECK(omp_get_num_threads() == 2);
        if (omp_get_thread_num() == 1) {
            keep_lock(waits_enough);
        } else if (in_task) {
#pragma omp task
            yield_to(child);
        } else {
            yield_to(child);
        }
    }
    CHECK(held == 1);
}

int main(void) {
    init_mutex();
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest_lock);
    omp_set_dynamic(0);
    for (int in_task = 0; in_task < 2; in_task++) {
        check_task_below(await_lock, 1, in_task);
        check_task_below(poll_lock, long_while, in_task);
    }
    for (int kind = 0; kind < kinds; kind++)
        check_generators(waits[kind]);
    return 0;
}
