// task: if, final, mergeable, untied, priority, data of all sizes and alignments, deep and wide trees.
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

static int fib(int n) {
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a) untied
    a = fib(n - 1);
#pragma omp task shared(b) mergeable
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static void clauses(void) {
    int ran = 0;
#pragma omp parallel
#pragma omp single
    {
        const int me = omp_get_thread_num();
        int local = 0;
#pragma omp task if (0) shared(local, ran)
        {
            CHECK(omp_get_thread_num() == me);
            local = 1;
#pragma omp task shared(ran)
#pragma omp atomic
            ++ran;
        }
        CHECK(local == 1);
#pragma omp task final(1) shared(ran)
        {
            CHECK(omp_in_final());
            int inside = 0;
            const int here = omp_get_thread_num();
#pragma omp task shared(inside)
            {
                CHECK(omp_in_final() && omp_get_thread_num() == here);
#pragma omp task shared(inside)
                ++inside;
                ++inside;
            }
            CHECK(inside == 2);
#pragma omp atomic
            ++ran;
        }
#pragma omp task final(0) priority(5) shared(ran)
        {
            CHECK(!omp_in_final());
#pragma omp atomic
            ++ran;
        }
#pragma omp taskwait
#pragma omp task if (0) final(1)
        CHECK(omp_in_final());
    }
    CHECK(ran == 3);
}

struct small {
    char c[3];
};
struct big {
    char c[5000];
};
struct aligned {
    _Alignas(64) char c[100];
};

static void data(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 300; ++i) {
        struct small s;
        struct big b;
        struct aligned a;
        long double l = i;
        __int128 wide = i;
        memset(&s, i, sizeof s);
        memset(&b, i, sizeof b);
        memset(&a, i, sizeof a);
#pragma omp task firstprivate(s, i)
        CHECK(s.c[2] == (char)i);
#pragma omp task firstprivate(b, i)
        CHECK(b.c[4999] == (char)i && b.c[0] == (char)i);
#pragma omp task firstprivate(a, i)
        CHECK(a.c[99] == (char)i && (uintptr_t)&a % 64 == 0);
#pragma omp task firstprivate(l, wide, i)
        CHECK(l == i && wide == i && (uintptr_t)&wide % 16 == 0 && (uintptr_t)&l % 16 == 0);
#pragma omp task if (0) firstprivate(b, a, i)
        CHECK(b.c[4999] == (char)i && a.c[99] == (char)i && (uintptr_t)&a % 64 == 0);
    }
}

static void wide(void) {
    int sum = 0;
#pragma omp parallel
    for (int i = 0; i < 20000; ++i) {
#pragma omp task shared(sum)
#pragma omp atomic
        ++sum;
    }
    CHECK(sum == 20000 * omp_get_max_threads());
}

static void chain(int n, int *ended) {
    if (n == 0) {
#pragma omp atomic
        ++*ended;
        return;
    }
#pragma omp task
    chain(n - 1, ended);
}

// Each task generates the next and ends: only a barrier waits for all.
static void chains(void) {
    int ended = 0;
#pragma omp parallel
    {
        chain(5000, &ended);
#pragma omp barrier
        CHECK(ended == omp_get_num_threads());
    }
}

static void recurse(int n, int *leaves) {
    if (n == 0) {
#pragma omp atomic
        ++*leaves;
        return;
    }
#pragma omp task
    recurse(n - 1, leaves);
#pragma omp taskwait
}

// taskwait nested to a depth that stacks of threads would not bear with large frames.
static void deep(void) {
    int leaves = 0;
#pragma omp parallel
#pragma omp single
    recurse(20000, &leaves);
    CHECK(leaves == 1);
}

// Tasks of a region of one member, and outside of all regions.
static void alone(void) {
    int sum = 0;
#pragma omp task shared(sum)
    ++sum;
    CHECK(sum == 1);
#pragma omp taskwait
#pragma omp parallel num_threads(1)
    {
#pragma omp task shared(sum)
        ++sum;
#pragma omp taskwait
        CHECK(sum == 2);
    }
    CHECK(fib(10) == 55);
}

// A tied task stays on its thread across all scheduling points.
static _Thread_local int mine;
static void tied(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task
        {
            const int me = omp_get_thread_num();
            int *const address = &mine;
            for (int j = 0; j < 5; ++j) {
#pragma omp task
                {
#pragma omp taskyield
                }
#pragma omp taskyield
#pragma omp taskwait
                CHECK(omp_get_thread_num() == me && &mine == address);
            }
        }
    }
}

int main(void) {
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(20);
    CHECK(result == 6765);
    clauses();
    data();
    wide();
    chains();
    deep();
    alone();
    tied();
    return 0;
}
