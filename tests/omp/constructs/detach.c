// Detached tasks: fulfilled by the task, by another task, by a pthread, before and after the body's end.
// libraries: -pthread
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static omp_event_handle_t handed;
static int late;

static void *fulfill_later(void *argument) {
    usleep(*(int *)argument); // time: either order is right
    __atomic_store_n(&late, 1, __ATOMIC_RELEASE);
    omp_fulfill_event(handed);
    return NULL;
}

static void by_pthread(int microseconds) {
    pthread_t thread;
#pragma omp parallel
#pragma omp single
    {
        omp_event_handle_t event;
        late = 0;
#pragma omp task detach(event)
        {
            handed = event;
            CHECK(pthread_create(&thread, NULL, fulfill_later, &microseconds) == 0);
        }
#pragma omp taskwait
        CHECK(__atomic_load_n(&late, __ATOMIC_ACQUIRE) == 1);
    }
    pthread_join(thread, NULL);
}

static void of_barrier(void) {
    pthread_t thread;
    int none = 100;
#pragma omp parallel
    {
#pragma omp single nowait
        {
            omp_event_handle_t event;
            late = 0;
#pragma omp task detach(event)
            {
                handed = event;
                CHECK(pthread_create(&thread, NULL, fulfill_later, &none) == 0);
            }
        }
#pragma omp barrier
        CHECK(__atomic_load_n(&late, __ATOMIC_ACQUIRE) == 1);
    }
    pthread_join(thread, NULL);
}

static void by_tasks(void) {
    for (int round = 0; round < 500; ++round) {
        int x = 0, done = 0;
#pragma omp parallel
#pragma omp single
        {
            omp_event_handle_t event, other;
#pragma omp task detach(event) depend(out : x) shared(x)
            x = 1;
#pragma omp task shared(event)
            omp_fulfill_event(event);
#pragma omp task depend(in : x) shared(x, done)
            done = x;
#pragma omp taskgroup
            {
#pragma omp task detach(other)
                omp_fulfill_event(other);
            }
#pragma omp taskwait
            CHECK(done == 1);
        }
    }
}

int main(void) {
    by_pthread(0);
    by_pthread(20000);
    of_barrier();
    by_tasks();
    return 0;
}
