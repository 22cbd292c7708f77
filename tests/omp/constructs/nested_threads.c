// The threads of a nested team are none of the teams around it, also when one of these is larger than when
// the nested team was last used: they may wait for a mutex of the system that the opener of the nested region
// holds.
// libraries: -pthread
// arguments: one_between
#include <omp.h>
#include <pthread.h>

#include "check.h"

enum { few = 2, many = 12, most_nested = 6 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int at_mutex;

static int open_nested(int nested) {
    int inner = 0;
#pragma omp parallel num_threads(nested) reduction(+ : inner)
    {
        CHECK(omp_get_num_threads() == nested);
        inner++;
#pragma omp barrier
    }
    return inner;
}

// A region of one thread is between the two.
static int open_below_one(int nested) {
    int inner = 0;
#pragma omp parallel num_threads(1) shared(inner)
    inner = open_nested(nested);
    return inner;
}

// One of n threads opens a nested region, while the others wait for its mutex.
static void open_by_one(int n, int nested, int (*open)(int)) {
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
            inner = open(nested);
        } else {
            pthread_mutex_lock(&mutex);
            at_mutex++;
        }
        pthread_mutex_unlock(&mutex);
    }
    CHECK(inner == nested && at_mutex == n - 1);
}

int main(int count, char **words) {
    (void)words;
    int (*const open)(int) = count > 1 ? open_below_one : open_nested;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    open_by_one(many, most_nested, open); // as many threads as there will be
    for (int nested = 2; nested < most_nested; nested++) {
        open_by_one(few, nested, open);
        open_by_one(many, nested, open);
        open_by_one(few, nested, open);
    }
    return 0;
}
