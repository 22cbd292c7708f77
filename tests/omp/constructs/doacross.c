// Doacross loops: one and several dimensions, negative steps, every schedule, unsigned counters.
#include <omp.h>

#include "check.h"

enum { n = 60 };
static int a[n + 2][n + 2];

static void reset(void) {
    for (int i = 0; i < n + 2; ++i)
        for (int j = 0; j < n + 2; ++j)
            a[i][j] = 0;
}

#define ONE(SCHEDULE)                                                                             \
    do {                                                                                          \
        static int v[1000];                                                                       \
        for (int i = 0; i < 1000; ++i)                                                            \
            v[i] = 0;                                                                             \
        _Pragma(SCHEDULE) for (int i = 2; i < 1000; ++i) {                                        \
            _Pragma("omp ordered depend(sink : i - 1) depend(sink : i - 2)") v[i] = v[i - 1] + 1; \
            _Pragma("omp ordered depend(source)")                                                 \
        }                                                                                         \
        CHECK(v[999] == 998);                                                                     \
        _Pragma(SCHEDULE) for (int i = 997; i >= 0; i -= 3) {                                     \
            _Pragma("omp ordered depend(sink : i + 3)") if (i < 997) v[i] = v[i + 3] + 2;         \
            else v[i] = 0;                                                                        \
            _Pragma("omp ordered depend(source)")                                                 \
        }                                                                                         \
        CHECK(v[1] == 2 * 332);                                                                   \
    } while (0)

#define GRID(SCHEDULE)                                                                                     \
    do {                                                                                                   \
        reset();                                                                                           \
        _Pragma(SCHEDULE) for (int i = 1; i <= n; ++i) for (int j = n; j >= 1; --j) {                      \
            _Pragma(                                                                                       \
                "omp ordered depend(sink : i - 1, j) depend(sink : i, j + 1) depend(sink : i - 1, j - 1)") \
                CHECK(i == 1 || a[i - 1][j] != 0);                                                         \
            CHECK(j == n || a[i][j + 1] != 0);                                                             \
            CHECK(i == 1 || j == 1 || a[i - 1][j - 1] != 0);                                               \
            a[i][j] = 1 + (i > 1 ? a[i - 1][j] : 0);                                                       \
            _Pragma("omp ordered depend(source)")                                                          \
        }                                                                                                  \
        for (int j = 1; j <= n; ++j)                                                                       \
            CHECK(a[n][j] == n);                                                                           \
    } while (0)

static void far(void) {
    long sum = 0; // a long loop of which each member takes one block
#pragma omp parallel for ordered(1) schedule(static) reduction(+ : sum)
    for (long i = 0; i < 3000000; ++i) {
#pragma omp ordered depend(sink : i - 2000000)
        ++sum;
#pragma omp ordered depend(source)
    }
    CHECK(sum == 3000000);
}

static void unsigned_counters(void) {
    static unsigned long long v[200];
#pragma omp parallel for ordered(1) schedule(dynamic, 2)
    for (unsigned long long i = 18446744073709551515ull; i < 18446744073709551615ull; ++i) {
#pragma omp ordered depend(sink : i - 1)
        const unsigned long long k = i - 18446744073709551515ull;
        v[k] = k ? v[k - 1] + 1 : 0;
#pragma omp ordered depend(source)
    }
    CHECK(v[99] == 99);
}

// Loops of one iteration each inside of a loop of `counts[0]`.
#define LOOP(I) for (int I = 0; I < 1; ++I)
#define LOOPS_8(I) LOOP(I##0) LOOP(I##1) LOOP(I##2) LOOP(I##3) LOOP(I##4) LOOP(I##5) LOOP(I##6) LOOP(I##7)
#define ZEROS_8(I) , I##0, I##1, I##2, I##3, I##4, I##5, I##6, I##7
static void many_dimensions(void) {
    int v[50] = {0};
#pragma omp parallel for ordered(73) schedule(dynamic)
    for (int i = 0; i < 50; ++i)
        LOOPS_8(a) LOOPS_8(b) LOOPS_8(c) LOOPS_8(d) LOOPS_8(e) LOOPS_8(f) LOOPS_8(g) LOOPS_8(h) LOOPS_8(j) {
            // clang-format off
#define SINK(I) _Pragma(STRING(omp ordered depend(sink : I ZEROS_8(a) ZEROS_8(b) ZEROS_8(c) ZEROS_8(d) \
                                                    ZEROS_8(e) ZEROS_8(f) ZEROS_8(g) ZEROS_8(h) ZEROS_8(j))))
#define STRING(...) STRING_OF(__VA_ARGS__)
#define STRING_OF(...) #__VA_ARGS__
            SINK(i - 1)
            // clang-format on
            v[i] = i ? v[i - 1] + 1 : 1;
#pragma omp ordered depend(source)
        }
    CHECK(v[49] == 50);
}

int main(void) {
    many_dimensions();
    ONE("omp parallel for ordered(1)");
    ONE("omp parallel for ordered(1) schedule(static, 4)");
    ONE("omp parallel for ordered(1) schedule(dynamic)");
    ONE("omp parallel for ordered(1) schedule(dynamic, 7)");
    ONE("omp parallel for ordered(1) schedule(guided)");
    ONE("omp parallel for ordered(1) schedule(guided, 3)");
    GRID("omp parallel for ordered(2)");
    GRID("omp parallel for ordered(2) schedule(static, 2)");
    GRID("omp parallel for ordered(2) schedule(dynamic)");
    GRID("omp parallel for collapse(2) ordered(2) schedule(dynamic, 3)");
    GRID("omp parallel for collapse(2) ordered(2)");
    GRID("omp parallel for ordered(2) schedule(guided)");
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int k = 0; k < 4; ++k)
        for (int chunk = 0; chunk < 5; chunk += 2) {
            omp_set_schedule(kinds[k], chunk);
            ONE("omp parallel for ordered(1) schedule(runtime)");
            GRID("omp parallel for ordered(2) schedule(runtime)");
        }
    far();
    unsigned_counters();
    return 0;
}
