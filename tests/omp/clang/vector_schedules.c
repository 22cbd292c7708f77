/* schedule(simd: ...) by calls, as other compilers of LLVM's interface make them: all chunks but the last are
 * of whole vectors. */
#include <omp.h>

#include "check.h"

#if defined(__clang__)
enum { blocks = 45, guided = 46, by_runtime = 47, vector = 4, most = 1000 };
void __kmpc_dispatch_init_4(void *where, int thread, int schedule, int low, int high, int step, int chunk);
int __kmpc_dispatch_next_4(void *where, int thread, int *last, int *low, int *high, int *step);

/* Each iteration of 0 ... count - 1 once; chunks of at least `least` iterations, and multiples of it. */
static void run(int schedule, int argument, int count, int least, int members) {
    int met[most] = {0}, chunks[16] = {0}, lasts = 0;
#pragma omp parallel num_threads(members)
    {
        int last = 0, low = 0, high = 0, step = 0;
        __kmpc_dispatch_init_4(0, 0, schedule, 0, count - 1, 1, argument);
        while (__kmpc_dispatch_next_4(0, 0, &last, &low, &high, &step)) {
            EXPECT(step == 1 && low <= high && last == (high == count - 1));
            EXPECT(last || (high - low + 1) % least == 0);
            for (int i = low; i <= high; ++i)
#pragma omp atomic
                ++met[i];
            ++chunks[omp_get_thread_num()];
#pragma omp atomic
            lasts += last;
        }
    }
    EXPECT(lasts == 1);
    for (int i = 0; i < count; ++i)
        EXPECT(met[i] == 1);
    if (schedule == blocks)
        for (int i = 0; i < members; ++i)
            EXPECT(chunks[i] <= 1);
}

int main(void) {
    for (int members = 1; members <= 4; ++members)
        for (int count = 1; count <= 99; count += 7) {
            run(blocks, vector, count, vector, members);
            run(guided, vector, count, vector, members);
            for (int kind = omp_sched_static; kind <= omp_sched_auto; ++kind)
                for (int chunk = 0; chunk <= 3; ++chunk) {
                    omp_set_schedule((omp_sched_t)kind, chunk);
                    const int in_chunk = kind == omp_sched_auto || chunk == 0 ? 1 : chunk;
                    run(by_runtime, vector, count, in_chunk * vector, members);
                }
        }
    return 0;
}
#else
int main(void) { return 0; }
#endif
