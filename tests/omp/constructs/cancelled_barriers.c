// cancel parallel, while others wait in barriers: of the region itself, and of functions that it calls, which
// the compiler does not know to be cancelled.
// environment: OMP_CANCELLATION=true
#include <omp.h>

#include "check.h"

static __attribute__((noinline)) void meet(void) {
#pragma omp barrier
}

static __attribute__((noinline)) void share(void) {
#pragma omp for schedule(static)
    for (int i = 0; i < 100; ++i) {
        // nothing: the barrier is what counts
    }
}

static __attribute__((noinline)) void alone(void) {
#pragma omp single
    {}
}

// One member cancels at the second step; others may be late in the barrier of the first.
static void in_steps(void (*meeting)(void)) {
    for (int round = 0; round < 500; ++round) {
        int beyond = 0;
#pragma omp parallel shared(beyond)
        {
            for (int step = 0; step < 3; ++step) {
                if (omp_get_thread_num() == round % omp_get_num_threads() && step == 1) {
#pragma omp cancel parallel
                }
                if (meeting) {
                    meeting();
#pragma omp cancellation point parallel
                } else {
#pragma omp barrier
                }
            }
#pragma omp atomic
            ++beyond;
        }
        CHECK(beyond == 0);
    }
}

int main(void) {
    CHECK(omp_get_cancellation());
    in_steps(NULL);
    in_steps(meet);
    in_steps(share);
    in_steps(alone);
    return 0;
}
