// again with: OMP_WAIT_POLICY=passive
#include <omp.h>

#include "check.h"

int main(void) {
    EXPECT(kmp_get_blocktime() == (getenv("OMP_WAIT_POLICY") ? 0 : 200));
    kmp_set_blocktime(5);
    EXPECT(kmp_get_blocktime() == 5);
    omp_set_num_threads(3);
    EXPECT(omp_get_max_threads() == 3);
    int members = 0;
#pragma omp parallel
    {
#pragma omp atomic
        ++members;
        omp_set_num_threads(2 + omp_get_thread_num());
        EXPECT(omp_get_max_threads() == 2 + omp_get_thread_num());
    }
    EXPECT(members == 3);
    EXPECT(omp_get_max_threads() == 3);
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    EXPECT(kind == omp_sched_static && chunk == 0);
    int once = 1, numbers[100] = {0};
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(runtime)
        for (int i = 0; i < 100; ++i)
            numbers[i] = omp_get_thread_num();
    }
    for (int i = 1; i < 100; ++i) /* a block for each thread, in their order */
        once = once && numbers[i - 1] <= numbers[i] && numbers[i] <= i / 25;
    EXPECT(once && numbers[99] == 3);
    omp_set_schedule(omp_sched_dynamic, 5);
    omp_get_schedule(&kind, &chunk);
    EXPECT((kind & 7) == omp_sched_dynamic && chunk == 5);
    EXPECT(omp_get_wtime() > 0 && omp_get_wtick() > 0); // time: a lower bound
    EXPECT(omp_get_level() == 0 && !omp_in_parallel() && omp_get_thread_num() == 0);
    EXPECT(omp_get_num_procs() >= 1);
    int *p = (int *)omp_alloc(100 * sizeof(int), omp_default_mem_alloc);
    EXPECT(p);
    p[99] = 1;
    omp_free(p, omp_default_mem_alloc);
    return 0;
}
