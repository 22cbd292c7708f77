// While a tied task yields, its thread starts descendants of it alone: what the task has written into data of
// the thread stays.
#include <omp.h>

#include "check.h"

enum { tasks = 200, yields = 10 };

static int owner; // of the thread: the task that writes to its data
#pragma omp threadprivate(owner)

static void yield_some(int me) {
    for (int i = 0; i < yields; i++) {
#pragma omp taskyield
        CHECK(owner == me);
    }
}

static void siblings(void) {
    int ran = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= tasks; i++) {
#pragma omp task shared(ran) firstprivate(i)
        {
            CHECK(owner == 0);
            owner = i;
            yield_some(i);
            owner = 0;
#pragma omp atomic
            ran++;
        }
    }
    CHECK(ran == tasks);
}

// Children may start there; they leave the data alone.
static void parents(void) {
    int ran = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= tasks; i++) {
#pragma omp task shared(ran) firstprivate(i)
        {
            CHECK(owner == 0);
            owner = i;
            for (int j = 0; j < 4; j++) {
#pragma omp task shared(ran)
#pragma omp atomic
                ran++;
            }
            yield_some(i);
            owner = 0;
        }
    }
    CHECK(ran == 4 * tasks);
}

// Tasks of a priority are kept in another order.
static void priorities(void) {
    int ran = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 1; i <= tasks; i++) {
#pragma omp task shared(ran) firstprivate(i) priority(i % 7)
        {
            CHECK(owner == 0);
            owner = i;
            yield_some(i);
            owner = 0;
#pragma omp atomic
            ran++;
        }
    }
    CHECK(ran == tasks);
}

static void implicit_tasks(void) {
    int ran = 0;
#pragma omp parallel
    {
        owner = -1;
        for (int i = 0; i < tasks; i++) {
#pragma omp task shared(ran)
#pragma omp atomic
            ran++;
            yield_some(-1);
        }
        owner = 0;
    }
    CHECK(ran >= tasks);
}

int main(void) {
    for (int round = 0; round < 10; round++) {
        siblings();
        parents();
        priorities();
        implicit_tasks();
    }
    return 0;
}
