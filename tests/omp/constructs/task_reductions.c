// Task reductions of taskgroups, regions, loops, sections and scopes; nested groups, arrays, own operations.
#include <omp.h>

#include "check.h"

struct pair {
    long low, high;
};
static void init(struct pair *p) { *p = (struct pair){1000000, -1000000}; }
static void combine(struct pair *out, const struct pair *in) {
    if (in->low < out->low)
        out->low = in->low;
    if (in->high > out->high)
        out->high = in->high;
}
#pragma omp declare reduction(extent : struct pair : combine(&omp_out, &omp_in)) initializer(init(&omp_priv))

static void groups(void) {
    long sum = 0, inner = 0, array[5] = {0};
    struct pair p;
    init(&p);
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum, array) task_reduction(extent : p)
        {
            for (int i = 0; i < 500; ++i) {
#pragma omp task in_reduction(+ : sum, array) in_reduction(extent : p) firstprivate(i)
                {
                    sum += i;
                    array[i % 5] += 1;
                    const struct pair one = {i, i};
                    combine(&p, &one);
#pragma omp task in_reduction(+ : sum)
                    sum += 1;
                }
            }
#pragma omp taskgroup task_reduction(+ : inner)
            for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : sum, inner)
                {
                    sum += 1;
                    inner += 1;
                }
            }
        }
        CHECK(sum == 124750 + 500 + 100);
        CHECK(inner == 100);
        CHECK(p.low == 0 && p.high == 499);
        for (int i = 0; i < 5; ++i)
            CHECK(array[i] == 100);
    }
}

static void regions(void) {
    long sum = 0;
#pragma omp parallel reduction(task, + : sum)
    {
        sum += 1;
        for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
    }
    CHECK(sum == 51 * omp_get_max_threads());
}

static void loops(void) {
    long sum = 0, other = 0;
#pragma omp parallel
    {
#pragma omp for reduction(task, + : sum) schedule(dynamic)
        for (int i = 0; i < 100; ++i) {
            sum += i;
#pragma omp task in_reduction(+ : sum)
            sum += 1;
        }
#pragma omp for reduction(task, + : other) schedule(static)
        for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : other)
            other += 1;
        }
#pragma omp for reduction(task, + : other) schedule(static) ordered
        for (int i = 0; i < 100; ++i) {
#pragma omp ordered
            other += 1;
        }
#pragma omp sections reduction(task, + : sum)
        {
#pragma omp section
            {
#pragma omp task in_reduction(+ : sum)
                sum += 1000;
            }
#pragma omp section
            sum += 2000;
        }
    }
    CHECK(sum == 4950 + 100 + 3000);
    CHECK(other == 200);
    sum = 0;
#pragma omp parallel for reduction(task, + : sum)
    for (int i = 0; i < 100; ++i) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
    }
    CHECK(sum == 4950);
}

#ifndef __clang__
static void scopes(void) {
    long sum = 0;
    int together = 0;
#pragma omp parallel
    {
#pragma omp scope reduction(task, + : sum)
        {
            sum += 1;
#pragma omp task in_reduction(+ : sum)
            sum += 10;
        }
#pragma omp scope reduction(+ : together)
        together += 1;
    }
    CHECK(sum == 11 * omp_get_max_threads());
    CHECK(together == omp_get_max_threads());
}
#else
static void scopes(void) {}
#endif

int main(void) {
    for (int round = 0; round < 50; ++round) {
        groups();
        regions();
        loops();
        scopes();
    }
    return 0;
}
