// Without OMP_CANCELLATION nothing is cancelled.
// again with: OMP_CANCELLATION=true
#include <omp.h>
#include <string.h>

#include "check.h"

int main(void) {
    const char *const asked = getenv("OMP_CANCELLATION");
    const int on = omp_get_cancellation();
    EXPECT(on == (asked && strcmp(asked, "true") == 0));
    int iterations = 0, after = 0, dynamic = 0, groups = 0, region = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for
        for (int i = 0; i < 1000; ++i) {
#pragma omp cancellation point for
#pragma omp atomic
            ++iterations;
            if (i % 250 == 0) {
#pragma omp cancel for
            }
        }
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 1000; ++i) {
#pragma omp atomic
            ++dynamic;
#pragma omp cancel for
        }
#pragma omp for
        for (int i = 0; i < 100; ++i) {
#pragma omp atomic
            ++after;
        }
    }
    EXPECT(on ? iterations >= 1 && iterations < 1000 : iterations == 1000);
    EXPECT(on ? dynamic >= 1 && dynamic <= 4 : dynamic == 1000);
    EXPECT(after == 100);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 100; ++i) {
#pragma omp task shared(groups)
        {
#pragma omp atomic
            ++groups;
#pragma omp cancel taskgroup
        }
    }
    EXPECT(on ? groups >= 1 : groups == 100);
#pragma omp parallel num_threads(4)
    {
        if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
        }
#pragma omp barrier
#pragma omp atomic
        ++region;
    }
    EXPECT(on ? region == 0 : region == 4);
    /* Members that have not seen it end the region, while the others wait at its cancellation. */
    for (int round = 0; round < 300; ++round) {
        int passed = 0;
#pragma omp parallel num_threads(4)
        {
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 100; ++i) {
                if (i == 30 + round % 7) {
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
            if (omp_get_thread_num() == round % 4) {
#pragma omp cancel parallel
            }
#pragma omp cancellation point parallel
#pragma omp for schedule(dynamic) nowait
            for (int i = 0; i < 100; ++i) {
#pragma omp atomic
                ++passed;
            }
        }
        EXPECT(on ? passed <= 100 : passed == 100);
    }
    return 0;
}
