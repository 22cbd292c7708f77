// Regions of pthreads: several at once, nested, with tasks, while the initial thread is blocked in a call.
// arguments: first
// libraries: -pthread
#include <omp.h>
#include <pthread.h>

#include "check.h"

static int fib(int n) {
    int a = 0, b = 0;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void *rounds(void *argument) {
    const int threads = *(int *)argument;
    const pthread_t self = pthread_self();
    for (int round = 0; round < 1000; ++round) {
        int members = 0, first = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members, first)
        {
            ++members;
            if (omp_get_thread_num() == 0)
                first = pthread_equal(pthread_self(), self) != 0;
        }
        CHECK(members >= 1 && members <= threads);
        CHECK(first == 1);
        if (round % 100 == 0) {
            int inner = 0, result = 0;
            omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : inner)
#pragma omp parallel num_threads(2) reduction(+ : inner)
            ++inner;
            CHECK(inner >= 1 && inner <= 4);
#pragma omp parallel num_threads(threads)
#pragma omp single
            result = fib(12);
            CHECK(result == 144);
        }
    }
    return NULL;
}

static void several_at_once(int threads) {
    pthread_t all[4];
    for (int i = 0; i < 4; ++i)
        CHECK(pthread_create(&all[i], NULL, rounds, &threads) == 0);
    for (int i = 0; i < 4; ++i)
        CHECK(pthread_join(all[i], NULL) == 0);
}

int main(int argc, char **argv) {
    int sum = 0;
    if (argc > 1 && *argv[1] == 'f') // pthreads are the first to use OpenMP
        several_at_once(1);
#pragma omp parallel reduction(+ : sum)
    ++sum;
    CHECK(sum == omp_get_max_threads());
    several_at_once(4);
    several_at_once(1);
    several_at_once(3);
    sum = 0;
#pragma omp parallel num_threads(5) reduction(+ : sum)
    ++sum;
    CHECK(sum == 5);
    return 0;
}
