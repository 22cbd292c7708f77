// LeakSanitizer reports what the program has lost, and nothing else: neither the library's memory nor what
// only suspended members and tasks point to. The program runs itself.
// libraries: -fsanitize=address -pthread
// arguments: exit_in_region exit_in_task pending
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"

enum { members = 24 };

static int by_loops(void) {
    int sum = 0, order = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic) reduction(+ : sum)
        for (int i = 0; i < 100; ++i)
            sum += i;
#pragma omp for ordered
        for (int i = 0; i < 100; ++i) {
#pragma omp ordered
            ++order;
        }
#pragma omp for ordered(1)
        for (int i = 1; i < 100; ++i) {
#pragma omp ordered depend(sink : i - 1)
            ++order;
#pragma omp ordered depend(source)
        }
    }
    return sum + order;
}

static int by_tasks(void) {
    int x = 0, y = 0, sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < 50; ++i) {
            int large[1000] = {i};
#pragma omp task depend(inout : x) shared(x)
            ++x;
#pragma omp task depend(in : x) depend(out : y) firstprivate(large) shared(y)
            y += large[0] == i;
        }
#pragma omp taskwait
#pragma omp taskloop
        for (int i = 0; i < 50; ++i) {
#pragma omp atomic
            ++y;
        }
#pragma omp taskgroup task_reduction(+ : sum)
        for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : sum)
            ++sum;
        }
        omp_event_handle_t event;
#pragma omp task detach(event)
        omp_fulfill_event(event);
    }
    return x + y + sum;
}

static void by_locks_and_nesting(void) {
    omp_lock_t lock;
    omp_nest_lock_t nested;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nested);
#pragma omp parallel num_threads(3)
    {
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nested);
        omp_unset_nest_lock(&nested);
        omp_set_num_threads(2); // a control variable of this task alone
#pragma omp parallel
        {
#pragma omp task
            {
#pragma omp task
                omp_free(omp_alloc(100, omp_default_mem_alloc), omp_default_mem_alloc);
            }
#pragma omp critical
            omp_set_schedule(omp_sched_guided, 3);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nested);
#pragma omp teams num_teams(2)
#pragma omp distribute parallel for
    for (int i = 0; i < 100; ++i)
        ;
}

static void *of_a_thread(void *unused) {
    (void)unused;
    CHECK(by_loops() == 4950 + 100 + 99);
    by_locks_and_nesting();
    return NULL;
}

// The pointers are on the stacks of members, most of which wait for the last one.
static void exit_in_region(void) {
#pragma omp parallel num_threads(members)
    {
        char *volatile mine = malloc(1000 + omp_get_thread_num());
        memset(mine, 0, 1000);
#pragma omp barrier
        if (omp_get_thread_num() == members - 1)
            exit(0);
#pragma omp barrier
        free(mine);
    }
}

static void exit_in_task(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < members; ++i) {
#pragma omp task
        {
            char *volatile mine = malloc(2000 + i);
            memset(mine, 0, 2000);
#pragma omp taskyield
#pragma omp task
            {
                if (i == members - 1)
                    exit(0);
            }
#pragma omp taskwait
            free(mine);
        }
    }
}

// Tasks that have not started have the only pointers to their data.
static void exit_before_tasks(void) {
#pragma omp parallel num_threads(1)
    {
        for (int i = 0; i < 20; ++i) {
            char *data = malloc(3000 + i);
#pragma omp task firstprivate(data)
            free(data);
        }
        exit(0);
    }
}

static char *volatile lost;

int main(int count, char **arguments) {
    const char *const what = count > 1 ? arguments[1] : "";
    CHECK(by_loops() == 4950 + 100 + 99);
    CHECK(by_tasks() == 50 + 50 + 50 + 50);
    omp_set_max_active_levels(3);
    by_locks_and_nesting();
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, of_a_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    if (strcmp(what, "exit_in_region") == 0)
        exit_in_region();
    if (strcmp(what, "exit_in_task") == 0)
        exit_in_task();
    if (strcmp(what, "pending") == 0)
        exit_before_tasks();
    if (strcmp(what, "lose") == 0) {
        lost = malloc(123);
        lost = NULL;
        return 0;
    }
    if (*what == '\0') { // it does find leaks
        char command[4096];
        snprintf(command, sizeof command, "'%s' lose 2>&1 | grep -q 'SUMMARY.* 123 byte'", arguments[0]);
        CHECK(system(command) == 0);
    }
    return 0;
}
