// Task reductions of an array whose length is known at run time. The thread that ends the taskgroup runs none
// of the tasks, so that the variable in which clang keeps the length is not set there; libomp loses the sums
// then.
#include <omp.h>
#include <unistd.h>

#include "check.h"

static void reduce(int n) {
    long sums[n];
    int ended = 0;
    for (int i = 0; i < n; ++i)
        sums[i] = 0;
#pragma omp parallel shared(sums, ended)
#pragma omp master
#pragma omp taskgroup task_reduction(+ : sums [0:n])
    {
        for (int t = 0; t < 20; ++t) {
#pragma omp task in_reduction(+ : sums [0:n]) shared(ended)
            {
                for (int i = 0; i < n; ++i)
                    sums[i] += i;
                __atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
            }
        }
        // The others mostly run the tasks meanwhile.
        for (int i = 0; i < 20 && omp_get_num_threads() > 1 && __atomic_load_n(&ended, __ATOMIC_ACQUIRE) < 20;
             ++i)
            usleep(500); // time: either order is right
    }
    for (int i = 0; i < n; ++i)
        EXPECT(sums[i] == 20 * i);
}

int main(void) {
    for (int n = 1; n < 100; ++n)
        reduce(n);
    return 0;
}
