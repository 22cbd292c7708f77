#include "check.h"

int main(void) {
    int at = 0, next = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for ordered schedule(dynamic, 3)
        for (int i = 0; i < 200; ++i) {
#pragma omp ordered
            EXPECT(at++ == i);
        }
#pragma omp for ordered schedule(static)
        for (int i = 0; i < 200; ++i) {
            if (i % 3 != 0) /* not every iteration has the region */
                continue;
#pragma omp ordered
            {
                EXPECT(next == i);
                next += 3;
            }
        }
    }
    EXPECT(at == 200);
    int guided = 100;
#pragma omp parallel for ordered schedule(guided) num_threads(4)
    for (long i = 100; i > 0; --i) {
#pragma omp ordered
        EXPECT(guided-- == i);
    }
    return 0;
}
