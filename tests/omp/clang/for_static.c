#include <limits.h>
#include <omp.h>

#include "check.h"

enum { n = 103 };

#define LOOP(type, from, to, step, schedule_clause)                                   \
    do {                                                                              \
        int seen[n] = {0};                                                            \
        _Pragma("omp parallel num_threads(4)") {                                      \
            _Pragma(schedule_clause) for (type i = from; i < (type)(to); i += step) { \
                _Pragma("omp atomic")++ seen[(i - from) / step];                      \
            }                                                                         \
        }                                                                             \
        int expected = 0;                                                             \
        for (type i = from; i < (type)(to); i += step)                                \
            EXPECT(seen[expected++] == 1);                                            \
        for (; expected < n; ++expected)                                              \
            EXPECT(seen[expected] == 0);                                              \
    } while (0)

int main(void) {
    LOOP(int, -50, 50, 1, "omp for schedule(static)");
    LOOP(int, -50, 50, 7, "omp for schedule(static, 3)");
    LOOP(unsigned, 5, 108, 1, "omp for schedule(static, 1)");
    LOOP(long, -3, 100, 2, "omp for schedule(static)");
    LOOP(unsigned long, 1, 3, 1, "omp for schedule(static)");
    LOOP(unsigned long, 1, 100, 5, "omp for schedule(static, 40)");
    LOOP(int, 0, 0, 1, "omp for schedule(static)");

    int last = -1, backwards = 0;
#pragma omp parallel for lastprivate(last) reduction(+ : backwards) num_threads(4)
    for (int i = 20; i > -20; i -= 3) {
        last = i;
        backwards += i;
    }
    EXPECT(last == -19);
    int expected = 0;
    for (int i = 20; i > -20; i -= 3)
        expected += i;
    EXPECT(backwards == expected);

    /* The same member gets the same iterations in two loops. */
    int owner[n];
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n; ++i)
            owner[i] = omp_get_thread_num();
#pragma omp for schedule(static)
        for (int i = 0; i < n; ++i)
            EXPECT(owner[i] == omp_get_thread_num());
    }
    return 0;
}
