#include <omp.h>

#include "check.h"

enum { n = 1000 };

int main(void) {
    int seen[n] = {0}, last = -1, sum = 0, tasks = 0;
    unsigned long usum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp taskloop lastprivate(last)
        for (int i = 0; i < n; ++i) {
#pragma omp atomic
            ++seen[i];
            last = i;
        }
        EXPECT(last == n - 1);
#pragma omp taskloop grainsize(7) nogroup shared(sum)
        for (int i = n; i > 0; i -= 3) {
#pragma omp atomic
            sum += i;
        }
#pragma omp taskwait
#pragma omp taskloop num_tasks(5) shared(usum, tasks)
        for (unsigned long i = 3; i < 300; i += 2) {
#pragma omp atomic
            usum += i;
        }
#pragma omp taskloop if (0) collapse(2) shared(tasks)
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 6; ++j)
                ++tasks;
#pragma omp taskloop
        for (int i = 5; i < 5; ++i)
            EXPECT(0);
    }
    int expected = 0;
    for (int i = n; i > 0; i -= 3)
        expected += i;
    EXPECT(sum == expected);
    EXPECT(usum == 22499);
    EXPECT(tasks == 24);
    for (int i = 0; i < n; ++i)
        EXPECT(seen[i] == 1);
    return 0;
}
