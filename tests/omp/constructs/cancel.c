// cancel and cancellation point: parallel, for, sections, taskgroup.
// environment: OMP_CANCELLATION=true
#include <omp.h>

#include "check.h"

// A member waits in a barrier that the others never reach.
static void waits_in_barrier(void) {
    for (int round = 0; round < 100; ++round) {
        int beyond = 0;
#pragma omp parallel shared(beyond)
        {
            if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp atomic
            ++beyond;
        }
        CHECK(beyond == 0);
    }
}

// Without the cancellation it would take years: however late the member is that cancels.
static void loop(void) {
    const long years = 1L << 60;
    for (int round = 0; round < 100; ++round) {
        long done = 0, after = 0;
#pragma omp parallel shared(done)
        {
#pragma omp for schedule(dynamic, 1)
            for (long i = 0; i < years; ++i) {
#pragma omp atomic
                ++done;
                if (i == 10) {
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp atomic
            ++after;
        }
        CHECK(done < years);
        CHECK(after >= 1);
#pragma omp parallel for reduction(+ : after)
        for (int i = 0; i < 100; ++i)
            after += i;
        CHECK(after >= 4951);
    }
}

static void static_loop(void) {
    int done = 0;
#pragma omp parallel
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; ++i) {
        if (i == 0) {
#pragma omp cancel for
        }
#pragma omp atomic
        ++done;
#pragma omp cancellation point for
    }
    CHECK(done < 1000);
}

static void sections(void) {
    int last = 0;
#pragma omp parallel num_threads(1)
#pragma omp sections
    {
#pragma omp section
        {
#pragma omp cancel sections
        }
#pragma omp section
        last = 1;
    }
    CHECK(last == 0);
}

static void taskgroup(void) {
    for (int round = 0; round < 50; ++round) {
        int started = 0, outside = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task shared(outside)
#pragma omp atomic
            ++outside;
#pragma omp taskgroup
            {
                for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(started) firstprivate(i)
                    {
#pragma omp atomic
                        ++started;
#pragma omp task
                        {}
#pragma omp cancellation point taskgroup
                        if (i == 3) {
#pragma omp cancel taskgroup
                        }
                    }
                }
            }
#pragma omp task shared(outside)
#pragma omp atomic
            ++outside;
        }
        CHECK(started >= 1 && started <= 1000);
        CHECK(outside == 2);
    }
}

// A task reduction of a loop is no taskgroup of its own here: the one around it is cancelled.
static void reducing_loop(void) {
    int sum = 0, ran = 0;
#pragma omp parallel shared(sum)
#pragma omp taskgroup
    {
#pragma omp for reduction(task, + : sum)
        for (int i = 0; i < 64; ++i) {
            ++sum;
#pragma omp task in_reduction(+ : sum)
            {
                sum += 0;
#pragma omp cancel taskgroup
                CHECK(0);
            }
        }
    }
    CHECK(sum == 64);
#pragma omp parallel num_threads(1) shared(sum, ran)
#pragma omp taskgroup
    {
#pragma omp for reduction(task, + : sum)
        for (int i = 0; i < 4; ++i) {
#pragma omp task in_reduction(+ : sum)
            {
                ++sum;
#pragma omp cancel taskgroup
            }
        }
#pragma omp task shared(ran)
        ran = 1;
    }
    CHECK(ran == 0);
}

static void tasks_of_a_cancelled_region(void) {
    int ran = 0;
#pragma omp parallel
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(ran)
#pragma omp atomic
            ++ran;
        }
#pragma omp cancel parallel
    }
    CHECK(ran <= 100 * omp_get_max_threads());
}

// A task that does not start completes without its event, which its body would have fulfilled.
static void detached_task(void) {
    for (int round = 0; round < 50; ++round) {
        int x = 0, ran = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task depend(out : x)
            {
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < 4; ++i) {
                omp_event_handle_t event;
#pragma omp task depend(inout : x) detach(event) shared(ran)
                {
                    ++ran;
                    omp_fulfill_event(event);
                }
            }
        }
        CHECK(ran == 0);
    }
}

int main(void) {
    CHECK(omp_get_cancellation());
    waits_in_barrier();
    loop();
    static_loop();
    sections();
    taskgroup();
    reducing_loop();
    tasks_of_a_cancelled_region();
    detached_task();
    return 0;
}
