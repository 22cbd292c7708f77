// Detached tasks that run at once, by if(0), in final tasks, in serial code and in pthreads: what depends on
// them comes after their events.
// libraries: -pthread
#include <omp.h>
#include <pthread.h>

#include "check.h"

static int x, fulfilled, followed;
static omp_event_handle_t handed;

static void begin(void) {
    x = 0;
    __atomic_store_n(&fulfilled, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&followed, 0, __ATOMIC_RELEASE);
}
static void fulfil(omp_event_handle_t event) {
    __atomic_store_n(&fulfilled, 1, __ATOMIC_RELEASE);
    omp_fulfill_event(event);
}
static void follow(void) {
    CHECK(__atomic_load_n(&fulfilled, __ATOMIC_ACQUIRE) == 1);
    __atomic_fetch_add(&followed, 1, __ATOMIC_ACQ_REL);
}
static int has_followed(void) { return __atomic_load_n(&followed, __ATOMIC_ACQUIRE); }

// A detached task, and four that depend on each other and on it.
static void generate(omp_event_handle_t *into) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x)
    {} *into = event;
#pragma omp task depend(in : x)
    follow();
#pragma omp task depend(in : x)
    follow();
#pragma omp task depend(inout : x)
    {
        CHECK(has_followed() == 2);
        follow();
    }
#pragma omp task depend(in : x)
    {
        CHECK(has_followed() == 3);
        follow();
    }
}

static void *fulfil_handed(void *ignored) {
    (void)ignored;
    fulfil(handed);
    return NULL;
}
static void by_pthread(omp_event_handle_t event) {
    pthread_t thread;
    handed = event;
    CHECK(pthread_create(&thread, NULL, fulfil_handed, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
}

// Whatever the thread is: alone, or a member of a team.
static void by_the_generator(void) {
    omp_event_handle_t event;
    begin();
    generate(&event);
    CHECK(has_followed() == 0);
    fulfil(event);
#pragma omp taskwait
    CHECK(has_followed() == 4);
}

static void by_a_pthread(void) {
    omp_event_handle_t event;
    begin();
    generate(&event);
    by_pthread(event);
#pragma omp taskwait depend(in : x)
    CHECK(has_followed() >= 3);
#pragma omp taskwait
    CHECK(has_followed() == 4);
    begin();
#pragma omp taskgroup
    {
        generate(&event);
        by_pthread(event);
    }
    CHECK(has_followed() == 4);
}

// The generator waits, for a pthread or for another task.
static void of_if_clause(int value) {
    begin();
    omp_event_handle_t event;
#pragma omp task if (value) detach(event) depend(out : x)
    {}
    by_pthread(event);
#pragma omp task if (0) depend(in : x)
    follow();
    CHECK(has_followed() == 1);
    begin();
    omp_event_handle_t other;
#pragma omp task if (value) detach(other) depend(out : x)
    by_pthread(other);
#pragma omp task depend(in : x)
    follow();
#pragma omp taskwait
    CHECK(has_followed() == 1);
}

// More addresses than the lists have room for at first.
static void with_long_lists(void) {
    enum { n = 50 };
    int cell[n] = {0};
    omp_event_handle_t event;
    begin();
#pragma omp task if (0) detach(event) depend(iterator(i = 0 : n), out : cell[i])
    {}
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : cell[i])
        follow();
    }
    CHECK(has_followed() == 0);
    fulfil(event);
#pragma omp taskwait
    CHECK(has_followed() == n);
}

static void all(void) {
    for (int round = 0; round < 20; ++round) {
        by_the_generator();
        by_a_pthread();
        of_if_clause(0);
        of_if_clause(1);
        with_long_lists();
    }
}

// A task that is final itself need not run at once.
static void with_final_clause(void) {
    omp_event_handle_t event;
    begin();
#pragma omp task final(1) detach(event) depend(out : x)
    {}
#pragma omp task final(1) depend(in : x)
    follow();
    CHECK(has_followed() == 0);
    fulfil(event);
#pragma omp taskwait
    CHECK(has_followed() == 1);
}

static void *run_all(void *ignored) {
    (void)ignored;
    all();
#pragma omp parallel num_threads(1)
    all();
    return NULL;
}

int main(void) {
    all();
#pragma omp parallel
#pragma omp single
    {
        all();
        with_final_clause();
#pragma omp task final(1)
        all();
    }
#pragma omp parallel num_threads(1)
    all();
    all(); // this thread may be a worker now
#pragma omp task final(1)
    all();
#pragma omp taskwait
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_all, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
