#include <omp.h>

#include "check.h"

static int counter = 7, copied;
#pragma omp threadprivate(counter, copied)

int main(void) {
    copied = 42;
#pragma omp parallel num_threads(4) copyin(copied)
    {
        EXPECT(copied == 42);
        EXPECT(counter == 7);
        counter += omp_get_thread_num();
        copied = omp_get_thread_num();
    }
#pragma omp parallel num_threads(4)
    {
        EXPECT(counter == 7 + omp_get_thread_num());
        EXPECT(copied == omp_get_thread_num());
    }
    EXPECT(counter == 7);
    return 0;
}
