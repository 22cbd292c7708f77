// Regions that become larger, while pthreads open and close others.
// libraries: -pthread
#include <omp.h>
#include <pthread.h>

#include "check.h"

static int stop;

static void *others(void *argument) {
    unsigned pause = *(unsigned *)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
        ++members;
        CHECK(members == 1 || members == 2);
        pause = pause * 1103515245 + 12345;
        for (volatile unsigned i = 0; i < pause >> 20; ++i)
            ;
    }
    return NULL;
}

int main(void) {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    ++members;
    CHECK(members == 2);
    pthread_t threads[2];
    unsigned pauses[2] = {1, 2};
    for (int i = 0; i < 2; ++i)
        CHECK(pthread_create(&threads[i], NULL, others, &pauses[i]) == 0);
    for (int size = 3; size < 40; ++size) {
        members = 0;
#pragma omp parallel num_threads(size) reduction(+ : members)
        ++members;
        CHECK(members == size);
        for (volatile unsigned i = 0; i < 20000; ++i)
            ;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; ++i)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
