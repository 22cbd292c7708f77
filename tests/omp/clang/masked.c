#include <omp.h>

#include "check.h"

int main(void) {
    int runs = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp masked filter(2)
        {
            EXPECT(omp_get_thread_num() == 2);
#pragma omp atomic
            ++runs;
        }
#pragma omp masked
        {
            EXPECT(omp_get_thread_num() == 0);
#pragma omp atomic
            ++runs;
        }
    }
    EXPECT(runs == 2);
    return 0;
}
