// Tasks that wait for a flag, by taskyield or by reading memory: the task that sets it begins on a thread
// that is in a task scheduling point, also where its own thread computes.
// libraries: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

enum { generated = 100, some = 3 };

// The compilers' own libraries may leave a task to the thread that has generated it.
static int begins_elsewhere;

static atomic_int child_begun, flag, ran;

static void yield_until_flag(void) {
    while (!flag) {
#pragma omp taskyield
    }
}

static void compute_until(atomic_int *counter, int value) {
    while (begins_elsewhere && *counter < value)
        sched_yield();
}

// It computes until others have run what it generates.
static void generate_and_compute(void) {
    child_begun = 1;
    for (int i = 1; i <= some; i++) {
#pragma omp task
        ran++;
        compute_until(&ran, i);
    }
#pragma omp task
    flag = 1;
    compute_until(&flag, 1);
}

// The thread of the task that yields may begin descendants of it, wherever these are.
static void generated_elsewhere(void) {
    child_begun = flag = ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
    {
#pragma omp task
        generate_and_compute();
        while (!child_begun) // by the other thread
            sched_yield();
        yield_until_flag();
    }
    CHECK(flag == 1 && ran == some);
}

// A generator waits for none of its tasks: what they wait for comes after the loop.
static void set_after_generation(void) {
    flag = ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < generated; i++) {
#pragma omp task
            {
#pragma omp taskgroup
                {
#pragma omp task
                    {
#pragma omp task
                        {
                            yield_until_flag();
                            ran++;
                        }
                    }
                }
            }
        }
        flag = 1;
    }
    CHECK(ran == generated);
}

static omp_event_handle_t event_to_fulfill;
static atomic_int event_known;

static void await_event(void) {
    int x = 0; // for depend alone
    (void)x;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    {}
    event_to_fulfill = event;
    event_known = 1;
#pragma omp taskwait
    flag = 1;
}

// An untied task begins at a barrier, and waits: its thread may begin any task.
static void untied_at_barrier(void) {
    event_known = flag = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
#pragma omp task untied
            await_event();
        } else {
            while (!event_known)
                sched_yield();
#pragma omp task
            omp_fulfill_event(event_to_fulfill);
            compute_until(&flag, 1);
        }
    }
    CHECK(flag == 1);
}

int main(void) {
    begins_elsewhere = dlsym(RTLD_DEFAULT, "fult_omp_start_runtime") != NULL;
    omp_set_dynamic(0);
    for (int round = 0; round < 20; round++) {
        generated_elsewhere();
        set_after_generation();
        untied_at_barrier();
    }
    return 0;
}
