// A task that yields until another one has run, with one thread: a tied task finds its descendants behind
// tasks of others, an untied task any task.
#include <stdio.h>
#include <stdlib.h>

enum { others = 8 };

static volatile int flag;

static void await_flag(void) {
    for (long i = 0; !flag; i++) {
#pragma omp taskyield
        if (i == 10000000) {
            fprintf(stderr, "the flag is not set\n");
            _Exit(1);
        }
    }
    flag = 0;
}

static void generate_others(int *ran) {
    for (int i = 0; i < others; i++) {
#pragma omp task
        ++*ran;
    }
}

int main(void) {
    int ran = 0;
#pragma omp parallel num_threads(1)
    {
#pragma omp task
        flag = 1;
        await_flag(); // a child of the implicit task

        generate_others(&ran);
#pragma omp task shared(ran)
        {
#pragma omp task
            {
#pragma omp task
                flag = 1;
            }
            const int before = ran;
            await_flag(); // a grandchild
            if (ran != before) {
                fprintf(stderr, "a sibling has started in a tied task that yields\n");
                _Exit(1);
            }
        }
#pragma omp taskwait

#pragma omp task
        flag = 1;
        generate_others(&ran);
#pragma omp task untied
        await_flag(); // a sibling
    }
    if (ran != 2 * others)
        fprintf(stderr, "%d tasks instead of %d\n", ran, 2 * others);
    return ran == 2 * others ? 0 : 1;
}
