// Tasks without clauses that run at once, by if(0), in final tasks and in serial code: their data, what they
// leave behind, their control variables, and regions in them. Generators of many tasks that suspend.
#include <omp.h>
#include <pthread.h>

#include "check.h"

// More nested tasks than a thread has free blocks.
static int depth_of_if0(int n) {
    int deeper = 0;
    if (n > 0)
#pragma omp task if (0) shared(deeper) firstprivate(n)
        deeper = depth_of_if0(n - 1);
    return deeper + 1;
}

static int depth_of_final(int n) {
    int deeper = 0;
    if (n > 0)
#pragma omp task final(1) shared(deeper) firstprivate(n)
    {
        CHECK(omp_in_final());
        deeper = depth_of_final(n - 1);
    }
#pragma omp taskwait
    return deeper + 1;
}

static void leave_children(int *ran, int n) {
#pragma omp task if (0) shared(ran) firstprivate(n)
    {
        for (int i = 0; i < n; ++i)
#pragma omp task shared(ran)
        {
#pragma omp task shared(ran)
#pragma omp atomic
            ++*ran;
#pragma omp atomic
            ++*ran;
        }
        if (n > 1)
            leave_children(ran, n - 1);
    }
}

static void descendants(void) {
    int ran = 0;
#pragma omp taskgroup
    leave_children(&ran, 20);
    CHECK(ran == 2 * 20 * 21 / 2);
    ran = 0;
#pragma omp taskgroup
#pragma omp task if (0) shared(ran)
    {
        leave_children(&ran, 1);
        int inner = 0;
#pragma omp taskgroup
        leave_children(&inner, 3);
        CHECK(inner == 12);
    }
    CHECK(ran == 2);
}

static void control_variables(void) {
    const int before = omp_get_max_threads();
#pragma omp task if (0)
    {
        omp_set_num_threads(before + 3);
        CHECK(omp_get_max_threads() == before + 3);
#pragma omp task if (0)
        CHECK(omp_get_max_threads() == before + 3);
    }
    CHECK(omp_get_max_threads() == before);
}

static void in_team(void) {
#pragma omp parallel
    {
        CHECK(depth_of_if0(1000) == 1001 && depth_of_final(1000) == 1001);
        control_variables();
        const int level = omp_get_level(), me = omp_get_thread_num();
#pragma omp task if (0)
        CHECK(omp_get_level() == level && omp_get_thread_num() == me && !omp_in_final());
#pragma omp single
        descendants();
    }
}

static void *in_serial_code(void *unused) {
    CHECK(depth_of_if0(1000) == 1001 && depth_of_final(1000) == 1001);
    control_variables();
    descendants();
    int sum = 0;
    for (int i = 0; i < 1000; ++i)
#pragma omp task shared(sum) firstprivate(i)
    {
        CHECK(omp_get_level() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel());
        sum += i;
    }
    CHECK(sum == 999 * 1000 / 2); // at once
    int members = 0;
#pragma omp task shared(members)
    {
#pragma omp parallel num_threads(2)
        {
            CHECK(omp_get_level() == 1 && omp_get_ancestor_thread_num(0) == 0);
            const int size = omp_get_num_threads();
#pragma omp task if (0) shared(members)
            CHECK(omp_get_num_threads() == size);
#pragma omp atomic
            members += size == omp_get_team_size(1);
        }
#pragma omp task final(1)
        CHECK(omp_in_final() && omp_get_level() == 0);
        CHECK(!omp_in_final());
    }
    CHECK(members >= 1);
    return unused;
}

// Each generates more tasks than are kept, and ends while they wait for children, for each other's lock, or
// yield.
static void generate_waiting_tasks(omp_lock_t *lock, int *ran, int count) {
    for (int i = 0; i < count; ++i)
#pragma omp task firstprivate(i) shared(lock, ran)
    {
        int own = 0;
#pragma omp task shared(own, ran)
        {
            omp_set_lock(lock);
            own = ++*ran;
            if (i % 7 == 0) {
#pragma omp taskyield
            }
            omp_unset_lock(lock);
        }
        if (i % 3 != 0) {
#pragma omp taskyield
        }
#pragma omp taskwait
        CHECK(own > 0);
    }
}

static void generators(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    int ran = 0;
#pragma omp parallel
    {
#pragma omp single nowait
        generate_waiting_tasks(&lock, &ran, 1000);
#pragma omp task shared(lock, ran)
        {
            generate_waiting_tasks(&lock, &ran, 500);
#pragma omp taskwait
        }
#pragma omp task shared(lock, ran) untied
        generate_waiting_tasks(&lock, &ran, 200);
    }
    CHECK(ran == 1000 + 700 * omp_get_max_threads());
    omp_destroy_lock(&lock);
}

int main(void) {
    in_serial_code(0); // before there are workers
    in_team();
    in_serial_code(0);
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, in_serial_code, 0) == 0);
    CHECK(pthread_join(thread, 0) == 0);
    in_serial_code(0);
    generators();
    return 0;
}
