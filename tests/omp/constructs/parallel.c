// parallel: sizes, if, nesting, proc_bind, 1,000 entries and exits.
#include <omp.h>

#include "check.h"

static void sizes(void) {
    for (int n = 1; n <= 16; ++n) {
        int members = 0, numbers = 0;
#pragma omp parallel num_threads(n) reduction(+ : members, numbers)
        {
            CHECK(omp_get_num_threads() == n);
            CHECK(omp_in_parallel() == (n > 1));
            CHECK(omp_get_level() == 1);
            CHECK(omp_get_ancestor_thread_num(1) == omp_get_thread_num());
            ++members;
            numbers += omp_get_thread_num();
        }
        CHECK(members == n && numbers == n * (n - 1) / 2);
    }
}

static void alone(void) {
    int members = 0;
#pragma omp parallel if (0) reduction(+ : members)
    {
        CHECK(omp_get_num_threads() == 1 && !omp_in_parallel() && omp_get_level() == 1);
        ++members;
    }
    CHECK(members == 1);
}

static int nest(int depth, int threads) {
    if (depth == 0)
        return 1;
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        CHECK(omp_get_num_threads() == threads);
        sum += nest(depth - 1, threads);
#pragma omp barrier
    }
    return sum;
}

static void nested(void) {
    omp_set_max_active_levels(1);
    int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
#pragma omp parallel num_threads(2) reduction(+ : inner)
    {
        CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2 && omp_get_active_level() == 1);
        ++inner;
    }
    CHECK(inner == 2);
    omp_set_max_active_levels(10);
    CHECK(nest(1, 3) == 3);
    CHECK(nest(2, 3) == 9);
    CHECK(nest(3, 2) == 8);
    CHECK(nest(4, 3) == 81);
    CHECK(nest(6, 2) == 64);
    omp_set_max_active_levels(1);
}

// Teams of two sizes go from one opener to another one, on another thread: their members move.
static void changing_hands(void) {
    omp_set_max_active_levels(2);
    for (int round = 0; round < 200; ++round) {
        int inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : inner)
        for (int size = 2; size < 5; ++size)
#pragma omp parallel num_threads(size) reduction(+ : inner)
        {
            CHECK(omp_get_num_threads() == size && omp_get_level() == 2);
            inner += 1 << 4 * omp_get_thread_num();
        }
        CHECK(inner == 2 * 0x1233);
    }
    omp_set_max_active_levels(1);
}

static void binds(void) {
    int members = 0;
#pragma omp parallel proc_bind(spread) reduction(+ : members)
    ++members;
#pragma omp parallel proc_bind(close) reduction(+ : members)
    ++members;
#pragma omp parallel proc_bind(master) reduction(+ : members)
    ++members;
    CHECK(members == 3 * omp_get_max_threads());
}

static void rounds(void) {
    long sum = 0;
    for (int round = 0; round < 1000; ++round) {
#pragma omp parallel reduction(+ : sum)
        ++sum;
    }
    CHECK(sum == 1000L * omp_get_max_threads());
    sum = 0;
    omp_set_max_active_levels(2);
    for (int round = 0; round < 1000; ++round) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel num_threads(2) reduction(+ : sum)
        ++sum;
    }
    CHECK(sum == 4000);
    omp_set_max_active_levels(1);
}

// Control variables of a member are its own.
static void own_variables(void) {
    const int before = omp_get_max_threads();
#pragma omp parallel
    {
        CHECK(omp_get_max_threads() == before);
        omp_set_num_threads(omp_get_thread_num() + 20);
#pragma omp barrier
        CHECK(omp_get_max_threads() == omp_get_thread_num() + 20);
#pragma omp task
        {
            CHECK(omp_get_max_threads() >= 20);
            omp_set_num_threads(3);
        }
#pragma omp taskwait
        CHECK(omp_get_max_threads() == omp_get_thread_num() + 20);
    }
    CHECK(omp_get_max_threads() == before);
}

int main(void) {
    sizes();
    alone();
    nested();
    changing_hands();
    binds();
    rounds();
    own_variables();
    return 0;
}
