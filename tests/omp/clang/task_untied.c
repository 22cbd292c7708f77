#include <omp.h>

#include "check.h"

static int work(int depth) {
    int a = 0, b = 0;
    if (depth == 0)
        return 1;
#pragma omp task untied shared(a)
    {
        int before = depth;
        a = work(depth - 1);
#pragma omp taskyield
        EXPECT(before == depth);
#pragma omp task untied shared(b)
        b = work(depth - 1);
#pragma omp taskwait
        a += b;
    }
#pragma omp taskwait
    return a;
}

int main(void) {
    int result = 0, undeferred = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        result = work(8);
#pragma omp task untied if (0) shared(undeferred)
        {
            undeferred = 1;
#pragma omp taskyield
            undeferred = 2;
        }
        EXPECT(undeferred == 2);
    }
    EXPECT(result == 256);
    return 0;
}
