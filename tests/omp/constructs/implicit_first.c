// A thread of a region begins with its implicit task: no other task of the region begins there before.
// again with: FULT_WORKERS=2
// libraries: -pthread
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "check.h"

enum { most_threads = 8, regions = 3000, tasks = 8 };

static int region;                                          // their number
static struct { _Alignas(64) int in; } begun[most_threads]; // changed by their threads

static void task(int child) {
    CHECK(begun[omp_get_thread_num()].in == region);
    if (child) {
#pragma omp task
        task(0);
    }
#pragma omp taskyield
    CHECK(begun[omp_get_thread_num()].in == region);
}

static void generate(void) {
    for (int i = 0; i < tasks; i++)
#pragma omp task
        task(i % 2);
}

static void open_region(int threads, int all_generate) {
    region++;
#pragma omp parallel num_threads(threads)
    {
        begun[omp_get_thread_num()].in = region;
        if (all_generate || omp_get_thread_num() == 0)
            generate();
    }
}

// A task waits for what the implicit task of another thread does.
static void await_member(void) {
    atomic_int flag = 0;
#pragma omp parallel num_threads(2) shared(flag)
    if (omp_get_thread_num() == 1) {
        flag = 1;
    } else {
#pragma omp task shared(flag)
        while (!flag)
            sched_yield();
    }
}

static void *open_regions(void *ignored) {
    for (int i = 0; i < regions; i++) {
        open_region(2 + i % (most_threads - 1), i % 2);
        open_region(2, 0);
        await_member();
    }
    return ignored;
}

int main(void) {
    omp_set_dynamic(0);
    open_regions(0);
    pthread_t other;
    CHECK(pthread_create(&other, 0, open_regions, 0) == 0 && pthread_join(other, 0) == 0);
    return 0;
}
