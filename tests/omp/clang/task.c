#include <omp.h>

#include "check.h"

static long fib(int n) {
    if (n < 2)
        return n;
    long x, y;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y) if (n > 5)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

static void leave_children(int depth, int *count) {
#pragma omp atomic
    ++*count;
    if (depth == 0)
        return;
    for (int i = 0; i < 2; ++i) {
#pragma omp task
        leave_children(depth - 1, count);
    }
}

int main(void) {
    long result = 0;
    int count = 0, in_final = 0, sum = 0;
    struct {
        char bytes[3000];
    } large;
    for (int i = 0; i < 3000; ++i)
        large.bytes[i] = (char)i;
#pragma omp parallel num_threads(4)
    {
#pragma omp single
        result = fib(18);
#pragma omp single
        {
#pragma omp taskgroup
            {
#pragma omp task
                leave_children(8, &count);
            }
            EXPECT(count == 511);
        }
#pragma omp single nowait
        leave_children(8, &count);
#pragma omp barrier
        EXPECT(count == 1022);
#pragma omp single
        {
#pragma omp task final(1)
            {
                int deferred = 1;
#pragma omp task shared(deferred)
                deferred = 0;
                EXPECT(!deferred && omp_in_final());
                in_final = 1;
            }
            for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(large, i) shared(sum) priority(i)
                {
                    int mine = 0;
                    for (int k = 0; k < 3000; ++k)
                        mine += large.bytes[k] == (char)k;
#pragma omp atomic
                    sum += mine;
                }
            }
        }
    }
    EXPECT(result == 2584);
    EXPECT(in_final);
    EXPECT(sum == 30000);
#pragma omp task shared(sum)
    sum = 1;
#pragma omp taskwait
    EXPECT(sum == 1);
    return 0;
}
