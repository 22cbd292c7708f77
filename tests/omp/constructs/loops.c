// Loops: every schedule, steps, counters at the extremes, ordered, lastprivate, collapse, nowait, inscan.
#include <limits.h>
#include <omp.h>
#include <string.h>

#include "check.h"

enum { n = 1000 };
static int hits[n];
static void check_hits(void) {
    for (int i = 0; i < n; ++i)
        CHECK(hits[i] == 1);
    memset(hits, 0, sizeof hits);
}

#define LOOP(...)                                                                                    \
    do {                                                                                             \
        _Pragma("omp parallel") { _Pragma(__VA_ARGS__) for (int i = 0; i < n; ++i)++ hits[i]; }      \
        check_hits();                                                                                \
        _Pragma("omp parallel") { _Pragma(__VA_ARGS__) for (int i = n - 1; i >= 0; --i)++ hits[i]; } \
        check_hits();                                                                                \
    } while (0)

static void schedules(void) {
    LOOP("omp for");
    LOOP("omp for schedule(static)");
    LOOP("omp for schedule(static, 3)");
    LOOP("omp for schedule(static, 5000)");
    LOOP("omp for schedule(dynamic)");
    LOOP("omp for schedule(dynamic, 7)");
    LOOP("omp for schedule(dynamic, 5000)");
    LOOP("omp for schedule(guided)");
    LOOP("omp for schedule(guided, 9)");
    LOOP("omp for schedule(auto)");
    LOOP("omp for schedule(runtime)");
    LOOP("omp for schedule(monotonic : dynamic, 2)");
    LOOP("omp for schedule(nonmonotonic : dynamic, 2)");
    LOOP("omp for schedule(monotonic : guided)");
    LOOP("omp for schedule(nonmonotonic : guided, 4)");
    LOOP("omp for schedule(monotonic : static, 4)");
    LOOP("omp for schedule(nonmonotonic : runtime)");
    const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
    for (int k = 0; k < 4; ++k)
        for (int chunk = 0; chunk < 20; chunk += 6) {
            omp_set_schedule(kinds[k], chunk);
            LOOP("omp for schedule(runtime)");
            LOOP("omp for schedule(monotonic : runtime)");
        }
}

#define EXTREME(TYPE, FIRST, CONDITION, STEP, COUNT)                                                         \
    do {                                                                                                     \
        long count = 0;                                                                                      \
        TYPE first = (FIRST);                                                                                \
        _Pragma("omp parallel for schedule(dynamic) reduction(+ : count)") for (TYPE i = first; CONDITION;   \
                                                                                STEP)++ count;               \
        CHECK(count == (COUNT));                                                                             \
        count = 0;                                                                                           \
        _Pragma("omp parallel for schedule(guided, 2) reduction(+ : count)") for (TYPE i = first; CONDITION; \
                                                                                  STEP)++ count;             \
        CHECK(count == (COUNT));                                                                             \
        count = 0;                                                                                           \
        _Pragma("omp parallel for schedule(static, 2) reduction(+ : count)") for (TYPE i = first; CONDITION; \
                                                                                  STEP)++ count;             \
        CHECK(count == (COUNT));                                                                             \
        count = 0;                                                                                           \
        _Pragma("omp parallel for schedule(runtime) reduction(+ : count)") for (TYPE i = first; CONDITION;   \
                                                                                STEP)++ count;               \
        CHECK(count == (COUNT));                                                                             \
        count = 0;                                                                                           \
        _Pragma("omp parallel for ordered schedule(dynamic, 3)") for (TYPE i = first; CONDITION; STEP) {     \
            _Pragma("omp ordered")++ count;                                                                  \
        }                                                                                                    \
        CHECK(count == (COUNT));                                                                             \
    } while (0)

static void extremes(void) {
    omp_set_schedule(omp_sched_dynamic, 1);
    EXTREME(unsigned long long, ULLONG_MAX - 100, i < ULLONG_MAX, ++i, 100);
    EXTREME(unsigned long long, 100, i > 0, --i, 100);
    EXTREME(unsigned long long, ULLONG_MAX, i > ULLONG_MAX - 50, i -= 7, 8);
    EXTREME(long, LONG_MIN, i < LONG_MIN + 100, ++i, 100);
    EXTREME(long, LONG_MAX, i > LONG_MAX - 100, --i, 100);
    EXTREME(unsigned, UINT_MAX - 10, i < UINT_MAX, ++i, 10);
    EXTREME(long, 5, i < 5, ++i, 0);
    EXTREME(unsigned long long, 5, i < 2, ++i, 0);
}

static void ordered(void) {
    int next = 0;
#pragma omp parallel for ordered schedule(dynamic, 3)
    for (int i = 0; i < n; ++i) {
        if (i % 3 != 1) {
#pragma omp ordered
            {
                CHECK(i >= next);
                next = i;
            }
        }
    }
    next = 0;
#pragma omp parallel for ordered schedule(static)
    for (int i = 0; i < n; ++i) {
#pragma omp ordered
        CHECK(next++ == i);
    }
    next = n;
#pragma omp parallel for ordered schedule(guided)
    for (int i = n; i > 0; --i) {
#pragma omp ordered
        CHECK(next-- == i);
    }
    next = 0;
#pragma omp parallel for ordered schedule(runtime) collapse(2)
    for (int i = 0; i < 10; ++i)
        for (int j = 0; j < 10; ++j) {
#pragma omp ordered
            CHECK(next++ == 10 * i + j);
        }
}

static void data(void) {
    int last = 0;
    long sum = 0;
#pragma omp parallel
    {
        for (int round = 0; round < 100; ++round) { // more than a ring of constructs ahead
#pragma omp for nowait schedule(dynamic)
            for (int i = 0; i < 8; ++i) {
#pragma omp atomic
                ++sum;
            }
        }
#pragma omp for lastprivate(last) schedule(guided)
        for (int i = 0; i < n; ++i)
            last = i;
#pragma omp for lastprivate(conditional : last) schedule(dynamic, 3)
        for (int i = 0; i < n; ++i)
            if (i % 77 == 0)
                last = i;
    }
    CHECK(sum == 800);
    CHECK(last == n - n % 77 - (n % 77 == 0 ? 77 : 0));
    int in[n], out[n], running = 0;
    for (int i = 0; i < n; ++i)
        in[i] = i;
#pragma omp parallel for reduction(inscan, + : running)
    for (int i = 0; i < n; ++i) {
        running += in[i];
#pragma omp scan inclusive(running)
        out[i] = running;
    }
    for (int i = 0; i < n; ++i)
        CHECK(out[i] == i * (i + 1) / 2);
    sum = 0;
#pragma omp parallel for collapse(3) reduction(+ : sum)
    for (int i = 0; i < 10; ++i)
        for (int j = i; j < 10; ++j)
            for (int k = 0; k < 3; ++k)
                sum += i + j + k;
    long expected = 0;
    for (int i = 0; i < 10; ++i)
        for (int j = i; j < 10; ++j)
            expected += 3 * (i + j) + 3;
    CHECK(sum == expected);
}

// Members that are at work keep one chunk; the others take the rest of theirs.
static void uneven(void) {
    for (int round = 0; round < 200; ++round) {
#pragma omp parallel
        {
            const int slow = omp_get_thread_num() == round % omp_get_num_threads();
#pragma omp for schedule(nonmonotonic : dynamic, 3) nowait
            for (int i = 0; i < n; ++i) {
                for (volatile int k = 0; slow && k < 100; ++k)
                    ;
                ++hits[i];
            }
        }
        check_hits();
    }
}

static void rising(void) {
#pragma omp parallel
    {
        int before = -1;
#pragma omp for schedule(monotonic : dynamic, 2)
        for (int i = 0; i < n; ++i) {
            CHECK(i > before);
            before = i;
        }
        before = -1;
        omp_set_schedule(omp_sched_dynamic | omp_sched_monotonic, 1);
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; ++i) {
            CHECK(i > before);
            before = i;
        }
    }
}

int main(void) {
    schedules();
    extremes();
    ordered();
    data();
    uneven();
    rising();
    return 0;
}
