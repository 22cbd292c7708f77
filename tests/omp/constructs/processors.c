// Without OMP_PROC_BIND, a region leaves to the initial thread, and to threads that it starts later, all
// processors.
// libraries: -pthread
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include "check.h"

static int processors(void) {
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    return CPU_COUNT(&set);
}

static void *in_thread(void *before) {
    CHECK(processors() == *(int *)before);
    return NULL;
}

int main(void) {
    int before = processors();
#pragma omp parallel
    CHECK(omp_get_num_procs() == before);
    CHECK(processors() == before);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, in_thread, &before) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
