// taskloop: grainsize, num_tasks, strict, collapse, nogroup, final, if, reduction, unsigned extremes.
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

static void forms(void) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop
        for (int i = 0; i < n; ++i)
            ++hits[i];
        check_hits();
#pragma omp taskloop grainsize(7)
        for (int i = n - 1; i >= 0; --i)
            ++hits[i];
        check_hits();
#pragma omp taskloop num_tasks(13)
        for (int i = 0; i < n; i += 1)
            ++hits[i];
        check_hits();
#pragma omp taskloop grainsize(strict : 300)
        for (int i = 0; i < n; ++i)
            ++hits[i];
        check_hits();
#pragma omp taskloop num_tasks(strict : 9)
        for (int i = 0; i < n; ++i)
            ++hits[i];
        check_hits();
#pragma omp taskloop grainsize(2 * n)
        for (int i = 0; i < n; ++i)
            ++hits[i];
        check_hits();
#pragma omp taskloop num_tasks(5 * n)
        for (int i = 0; i < n; ++i)
            ++hits[i];
        check_hits();
#pragma omp taskloop collapse(2) if (0)
        for (int i = 0; i < 10; ++i)
            for (int j = 0; j < 100; ++j)
                ++hits[100 * i + j];
        check_hits();
#pragma omp taskloop collapse(3) final(1)
        for (int i = 0; i < 10; ++i)
            for (int j = 0; j < 10; ++j)
                for (int k = 9; k >= 0; --k) {
                    CHECK(omp_in_final());
                    ++hits[100 * i + 10 * j + k];
                }
        check_hits();
#pragma omp taskloop nogroup untied priority(3)
        for (int i = 0; i < n; ++i)
            ++hits[i];
#pragma omp taskwait
        check_hits();
        int last = -1;
#pragma omp taskloop lastprivate(last)
        for (int i = 0; i < n; ++i)
            last = i;
        CHECK(last == n - 1);
        int never = 0;
#pragma omp taskloop shared(never)
        for (int i = 0; i < never; ++i)
            never = 1;
        CHECK(never == 0);
    }
}

static void unsigned_counters(void) {
    unsigned long long sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop num_tasks(4) shared(sum)
        for (unsigned long long i = ULLONG_MAX - 10; i < ULLONG_MAX; ++i) {
#pragma omp atomic
            sum += ULLONG_MAX - i;
        }
        CHECK(sum == 55);
#pragma omp taskloop num_tasks(3) shared(sum)
        for (long i = LONG_MIN; i < LONG_MAX - LONG_MAX / 4; i += LONG_MAX / 4) {
#pragma omp atomic
            ++sum;
        }
        CHECK(sum == 55 + 8);
    }
}

static void reductions(void) {
    for (int round = 0; round < 30; ++round) {
        long sum = 5, product = 1;
        int never = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp taskloop reduction(+ : sum) grainsize(10)
            for (int i = 0; i < n; ++i)
                sum += i;
            CHECK(sum == 5 + 499500);
#pragma omp taskloop reduction(* : product) num_tasks(8)
            for (int i = 1; i <= 20; ++i)
                product *= i;
            CHECK(product == 2432902008176640000);
#pragma omp taskloop reduction(* : product)
            for (int i = 0; i < never; ++i)
                product *= 0;
            CHECK(product == 2432902008176640000);
#pragma omp taskgroup task_reduction(+ : sum)
            {
#pragma omp taskloop in_reduction(+ : sum) nogroup
                for (int i = 0; i < n; ++i)
                    sum += 1;
#pragma omp taskloop in_reduction(+ : sum)
                for (int i = 0; i < n; ++i)
                    sum += 1;
            }
            CHECK(sum == 5 + 499500 + 2 * n);
        }
        sum = 0;
#pragma omp parallel master taskloop reduction(+ : sum)
        for (int i = 0; i < n; ++i)
            sum += i;
        CHECK(sum == 499500);
    }
}

int main(void) {
    forms();
    unsigned_counters();
    reductions();
    long sum = 0; // outside of all regions
#pragma omp taskloop reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += i;
    CHECK(sum == 499500);
    return 0;
}
