#include <omp.h>

#include "check.h"

int main(void) {
    int data = 0, flag = 0;
    double d = 0;
    struct {
        long a;
    } s = {0};
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            data = 17;
#pragma omp flush
#pragma omp atomic write
            flag = 1;
        } else {
            int seen = 0;
            while (!seen) {
#pragma omp taskyield
#pragma omp atomic read
                seen = flag;
            }
#pragma omp flush
            EXPECT(data == 17);
        }
        for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
            d += 1.5;
            long before;
#pragma omp atomic capture
            before = s.a++;
            EXPECT(before >= 0);
        }
    }
    EXPECT(d == 3000 && s.a == 2000);
    return 0;
}
