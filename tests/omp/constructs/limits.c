// Control variables: a thread limit for all nested regions together, proc_bind, and those of target regions,
// which are those of the program's start.
// environment: OMP_THREAD_LIMIT=9 OMP_MAX_ACTIVE_LEVELS=9 OMP_PROC_BIND=true
#include <omp.h>
#include <unistd.h>

#include "check.h"

// No more than `limit` threads at once.
static void nested(int limit) {
    int inside = 0, most = 0;
#pragma omp parallel num_threads(4) shared(inside, most)
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(3)
    {
        int now, seen;
#pragma omp atomic capture
        now = ++inside;
        CHECK(now <= limit);
#pragma omp critical
        most = now > most ? now : most;
        usleep(1000); // time: either order is right
#pragma omp atomic read
        seen = inside;
        CHECK(seen <= limit);
#pragma omp atomic
        --inside;
    }
    CHECK(most >= 1 && inside == 0);
}

// Of the program's start, though the host has changed its own.
static void on_device(int threads) {
    omp_set_num_threads(5);
    omp_set_schedule(omp_sched_static, 3);
#pragma omp target
    {
        omp_sched_t kind;
        int chunk;
        omp_get_schedule(&kind, &chunk);
        CHECK(kind == omp_sched_dynamic && chunk == 1);
        CHECK(omp_get_max_threads() == threads);
        omp_set_num_threads(2);
    }
    CHECK(omp_get_max_threads() == 5);
    omp_set_num_threads(threads);
}

static void bound(void) {
    CHECK(omp_get_proc_bind() == omp_proc_bind_true);
#pragma omp parallel proc_bind(close)
    {
        CHECK(omp_get_proc_bind() == omp_proc_bind_close);
#pragma omp parallel num_threads(2)
        CHECK(omp_get_proc_bind() == omp_proc_bind_close);
    }
#pragma omp parallel for proc_bind(spread) schedule(dynamic)
    for (int i = 0; i < 10; ++i)
        CHECK(omp_get_proc_bind() == omp_proc_bind_spread);
    CHECK(omp_get_proc_bind() == omp_proc_bind_true);
}

int main(void) {
    const int threads = omp_get_max_threads();
    CHECK(omp_get_thread_limit() == 9);
    nested(9);
    for (int round = 0; round < 3; ++round) { // each gives its threads back
        int members = 0;
#pragma omp parallel num_threads(20) reduction(+ : members)
        ++members;
        CHECK(members <= 9);
        members = 0;
#pragma omp parallel num_threads(9) reduction(+ : members)
        ++members;
        CHECK(members == 9);
    }
#pragma omp teams thread_limit(6)
    nested(6);
#pragma omp target teams thread_limit(5)
    nested(5);
    on_device(threads);
    bound();
    return 0;
}
