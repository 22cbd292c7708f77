#include <omp.h>

#include "check.h"

int main(void) {
    int singles = 0, without_wait = 0, masters = 0;
#pragma omp parallel num_threads(4)
    {
        for (int i = 0; i < 50; ++i) {
#pragma omp single
            ++singles;
#pragma omp single nowait
            {
#pragma omp atomic // others may be in the next one already
                ++without_wait;
            }
        }
        int value = -1;
        double other = 0;
#pragma omp single copyprivate(value, other)
        {
            value = omp_get_thread_num() + 10;
            other = 2.5;
        }
        EXPECT(value >= 10 && value < 14);
        EXPECT(other == 2.5);
#pragma omp master
        {
            masters += 1;
            EXPECT(omp_get_thread_num() == 0);
        }
    }
    EXPECT(singles == 50);
    EXPECT(without_wait == 50);
    EXPECT(masters == 1);
    return 0;
}
