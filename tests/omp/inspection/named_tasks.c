// Tasks that wait and a region, reported while it runs: their names are those of the functions below.
#include <signal.h>
#include <stdio.h>

static int ended;

// Asks for a report, and goes on when the test has read it.
static void __attribute__((noinline)) stop_here(void) {
    raise(SIGUSR1);
    getchar();
}

static void __attribute__((noinline)) generate(int depth) {
#pragma omp task
    {
        if (depth > 0) {
            generate(depth - 1);
#pragma omp taskwait
        } else {
            stop_here();
        }
#pragma omp atomic
        ++ended;
    }
}

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        generate(3);
#pragma omp taskwait
    }
    printf("%d\n", ended);
    return ended == 4 ? 0 : 1;
}
