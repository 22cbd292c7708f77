// The threads of a team add to the same variable: the race that ThreadSanitizer must find. With an argument
// each addition is in a task that depends on the one before it: there is no race.
#include <sched.h>
#include <stdio.h>
int main(int arguments, char **argument) {
    (void)argument;
    int sum = 0, here = 0;
    if (arguments == 1) {
#pragma omp parallel num_threads(4)
        { // all run before one adds: a thread that starts late is ordered behind the others on a busy machine
            __atomic_fetch_add(&here, 1, __ATOMIC_RELAXED);
            while (__atomic_load_n(&here, __ATOMIC_RELAXED) < 4)
                sched_yield();
            for (int i = 0; i < 100; ++i)
                sum += 1;
        }
    } else {
#pragma omp parallel num_threads(4)
#pragma omp single
        for (int i = 0; i < 400; ++i)
#pragma omp task depend(inout : sum) shared(sum)
            sum += 1;
    }
    printf("%d\n", sum);
    return 0;
}
