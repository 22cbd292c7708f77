#include <omp.h>

#include "check.h"

enum { n = 1003 };

#define LOOP(type, from, to, step, schedule_clause)                                   \
    do {                                                                              \
        int seen[n] = {0}, last = -1;                                                 \
        _Pragma("omp parallel num_threads(4)") {                                      \
            _Pragma(schedule_clause) for (type i = from; i < (type)(to); i += step) { \
                _Pragma("omp atomic")++ seen[(i - from) / step];                      \
                last = (int)i;                                                        \
            }                                                                         \
        }                                                                             \
        int expected = 0, final = -1;                                                 \
        for (type i = from; i < (type)(to); i += step) {                              \
            EXPECT(seen[expected++] == 1);                                            \
            final = (int)i;                                                           \
        }                                                                             \
        EXPECT(last == final);                                                        \
        for (; expected < n; ++expected)                                              \
            EXPECT(seen[expected] == 0);                                              \
    } while (0)

int main(void) {
    for (int round = 0; round < 20; ++round) { /* longer than the ring of constructs */
        LOOP(int, -500, 500, 1, "omp for schedule(dynamic) lastprivate(last)");
        LOOP(int, -500, 500, 7, "omp for schedule(dynamic, 3) lastprivate(last)");
        LOOP(unsigned, 5, 1000, 1, "omp for schedule(guided) lastprivate(last)");
        LOOP(long, -3, 1000, 2, "omp for schedule(guided, 9) lastprivate(last)");
        LOOP(unsigned long, 1, 900, 5, "omp for schedule(runtime) lastprivate(last)");
        LOOP(unsigned long, 1, 3, 1, "omp for schedule(dynamic, 100) lastprivate(last)");
        LOOP(int, 0, 900, 1, "omp for schedule(auto) lastprivate(last)");
        LOOP(int, 0, 900, 1, "omp for schedule(monotonic : dynamic, 2) lastprivate(last)");
    }
    omp_set_schedule(omp_sched_guided, 4);
    LOOP(int, 0, 900, 1, "omp for schedule(runtime) lastprivate(last)");
    omp_set_schedule(omp_sched_static, 4);
    LOOP(int, 0, 900, 1, "omp for schedule(runtime) lastprivate(last)");

    int sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) collapse(2) num_threads(4)
    for (int i = 0; i < 30; ++i)
        for (int j = 10; j > 0; --j)
            sum += i * j;
    EXPECT(sum == 435 * 55);
    return 0;
}
