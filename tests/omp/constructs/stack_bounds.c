// The stack that pthread_getattr_np reports for the running thread is the one that runs: in regions, tasks,
// and whatever runs inline, of any thread. Interpreters and garbage collectors ask for it. For members it is
// their thread's own.
// libraries: -pthread
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

struct bounds {
    char *low;
    size_t size;
};

static struct bounds reported(pthread_t thread) {
    pthread_attr_t a;
    void *low;
    size_t size, guard;
    CHECK(pthread_getattr_np(thread, &a) == 0);
    CHECK(pthread_attr_getstack(&a, &low, &size) == 0);
    CHECK(pthread_attr_getguardsize(&a, &guard) == 0);
    CHECK(pthread_attr_destroy(&a) == 0);
    CHECK(guard < size);
    return (struct bounds){low, size};
}

static int writable(const char *from, const char *to) { // all of it is mapped
    FILE *const maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    char line[512];
    uintptr_t at = (uintptr_t)from;
    while (at < (uintptr_t)to && fgets(line, sizeof line, maps)) {
        unsigned long begin, end;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && begin <= at && at < end &&
            rights[1] == 'w')
            at = end;
    }
    fclose(maps);
    return at >= (uintptr_t)to;
}

static void check_here(void) {
    char here;
    const struct bounds b = reported(pthread_self());
    CHECK(&here >= b.low && &here < b.low + b.size);
    CHECK(b.size > 64 * 1024);
    CHECK((size_t)(&here - b.low) > 32 * 1024); // there is room left
    CHECK(writable(&here, b.low + b.size));
}

static void check_deep(int depth) {
    check_here();
    if (depth == 0)
        return;
#pragma omp task
    check_deep(depth - 1);
#pragma omp taskwait
    check_here();
}

static void check_constructs(void) {
    int x = 0;
    check_here();
#pragma omp task
    check_here();
#pragma omp task if (0)
    check_here();
#pragma omp task final(1)
    {
#pragma omp task
        check_here();
    }
#pragma omp task untied
    {
        check_here();
#pragma omp taskyield
        check_here();
    }
#pragma omp task depend(inout : x) shared(x)
    check_here();
#pragma omp task depend(in : x) shared(x)
    check_here();
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 8; ++i)
        check_here();
#pragma omp taskgroup
    check_deep(12);
}

static void check_regions(void) {
#pragma omp parallel num_threads(4)
    {
        check_here();
#pragma omp single nowait
        check_constructs();
#pragma omp parallel num_threads(3)
        {
            check_here();
#pragma omp single
            check_constructs();
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 6; ++i)
                check_here();
        }
        check_here();
    }
}

static struct bounds of_members[4];
static pthread_t threads_of_members[4];

// Members run on their thread's own stack in each region. What other threads ask about it is the same.
static void check_members(int first_time) {
#pragma omp parallel num_threads(4)
    {
        const int me = omp_get_thread_num();
        const struct bounds mine = reported(pthread_self());
        check_here();
        if (first_time) {
            of_members[me] = mine;
            threads_of_members[me] = pthread_self();
        }
        CHECK(me == 0 || (mine.low == of_members[me].low && mine.size == of_members[me].size));
#pragma omp task
        check_here();
#pragma omp barrier
        CHECK(pthread_equal(pthread_self(), threads_of_members[me]));
        const int next = me % 3 + 1;
        const struct bounds others = reported(threads_of_members[next]);
        CHECK(others.low == of_members[next].low && others.size == of_members[next].size);
    }
}

static void *of_a_thread(void *whole) {
    const struct bounds before = reported(pthread_self());
    check_here();
    check_regions();
    check_constructs();
    const struct bounds after = reported(pthread_self());
    CHECK(before.low == after.low && before.size == after.size);
    *(struct bounds *)whole = after;
    return NULL;
}

int main(void) {
    omp_set_max_active_levels(3);
    const struct bounds before = reported(pthread_self());
    check_here();
    check_constructs();
    for (int i = 0; i < 100; ++i)
        check_members(i == 0);
    check_regions();
    check_members(0);
    const struct bounds after = reported(pthread_self());
    CHECK(before.low + before.size == after.low + after.size); // the kernel grows the first one
    pthread_t thread;
    struct bounds its = {0};
    CHECK(pthread_create(&thread, NULL, of_a_thread, &its) == 0);
    const struct bounds seen = reported(thread); // of another thread: the system's answer
#pragma omp parallel num_threads(2)
    {
        const struct bounds from_member = reported(thread);
        CHECK(from_member.low == seen.low && from_member.size == seen.size);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(its.low == seen.low && its.size == seen.size);
    return 0;
}
