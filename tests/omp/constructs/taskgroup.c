// taskgroup waits for descendants, taskwait for children; taskyield lets others run.
#include <omp.h>
#include <sched.h>

#include "check.h"

static void tree(int depth, int *count) {
#pragma omp atomic
    ++*count;
    if (depth == 0)
        return;
    for (int i = 0; i < 3; ++i) {
#pragma omp task
        tree(depth - 1, count);
    }
}

static int load(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

int main(void) {
    for (int round = 0; round < 50; ++round) {
        int count = 0, early = 0;
#pragma omp parallel
        {
            int mine = 0;
#pragma omp taskgroup
            tree(5, &mine);
            CHECK(load(&mine) == 364);
#pragma omp single
            {
#pragma omp task shared(early)
                __atomic_store_n(&early, 1, __ATOMIC_RELEASE);
#pragma omp taskgroup
                {
                    tree(4, &count);
#pragma omp taskgroup
                    tree(2, &count);
                    CHECK(load(&count) >= 13);
#pragma omp taskwait
                }
                CHECK(load(&count) == 134);
#pragma omp taskwait
                CHECK(load(&early) == 1);
            }
        }
    }
    // taskwait does not wait for grandchildren: one of them waits for what follows the taskwait
    int go = 0, ended = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(go, ended)
        {
#pragma omp task shared(go, ended)
            {
                if (omp_get_num_threads() > 1)
                    while (!load(&go)) {
#pragma omp taskyield
                        sched_yield();
                    }
                ended = 1;
            }
        }
#pragma omp taskwait
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    }
    CHECK(ended == 1);
    return 0;
}
