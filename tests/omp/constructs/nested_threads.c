// The threads of a nested team are none of the teams around it, also when one of these is larger than when
// the nested team was last used: they may wait for a mutex of the system that the opener of the nested region
// holds.
// libraries: -pthread
#include <omp.h>
#include <pthread.h>

#include "check.h"

enum { few = 2, many = 12, most_nested = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int at_mutex;

// One of n threads opens a nested region, while the others wait for its mutex.
static void open_within(int n, int nested) {
    int inner = 0;
    at_mutex = 0;
#pragma omp parallel num_threads(n) shared(inner)
    {
        CHECK(omp_get_num_threads() == n);
        const int opens = omp_get_thread_num() == 0;
        if (opens)
            pthread_mutex_lock(&mutex);
#pragma omp barrier
        if (opens) {
#pragma omp parallel num_threads(nested) reduction(+ : inner)
            {
                CHECK(omp_get_num_threads() == nested);
                inner++;
#pragma omp barrier
            }
        } else {
            pthread_mutex_lock(&mutex);
            at_mutex++;
        }
        pthread_mutex_unlock(&mutex);
    }
    CHECK(inner == nested && at_mutex == n - 1);
}

int main(void) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    open_within(many, most_nested); // as many threads as there will be
    for (int nested = 2; nested < most_nested; nested++) {
        open_within(few, nested);
        open_within(many, nested);
        open_within(few, nested);
    }
    return 0;
}
