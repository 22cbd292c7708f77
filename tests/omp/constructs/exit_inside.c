// exit from inside a region: by the initial thread, by another member, from a task, with work under way.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int left;
static void at_end(void) { left = 1; }

static void leave_from(int where) {
    CHECK(atexit(at_end) == 0);
#pragma omp parallel
    {
#pragma omp task
        for (volatile int i = 0; i < 100000000; ++i) {
        }
        if (where == 0 && omp_get_thread_num() == 0)
            exit(5);
        if (where == 1 && omp_get_thread_num() == omp_get_num_threads() - 1)
            exit(5);
        if (where == 2) {
#pragma omp single
#pragma omp task
            exit(5);
        }
        if (where == 3) {
#pragma omp barrier
            if (omp_get_thread_num() == 0)
                exit(5);
        }
#pragma omp barrier
    }
    exit(6);
}

int main(void) {
    for (int where = 0; where < 4; ++where) {
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0)
            leave_from(where);
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
    return 0;
}
