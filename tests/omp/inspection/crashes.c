// A crash in a task of a region: `crashes KIND`.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void by_own_handler(int number) {
    (void)number;
    _Exit(42);
}

static void __attribute__((noinline)) write_nowhere(const char *where) {
#pragma omp task
    {
        if (strcmp(where, "task") == 0)
            *(volatile int *)0 = 1;
        if (strcmp(where, "abort") == 0)
            abort();
    }
#pragma omp taskwait
    if (strcmp(where, "region") == 0)
        *(volatile int *)0 = 1;
}

int main(int argc, char **argv) {
    const char *where = argc > 1 ? argv[1] : "";
    if (strcmp(where, "handler") == 0) {
        signal(SIGSEGV, by_own_handler);
        where = "task";
    }
    if (strcmp(where, "abort-handler") == 0) {
        signal(SIGABRT, by_own_handler);
        where = "abort";
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    write_nowhere(where);
    printf("not reached\n");
    return 1;
}
