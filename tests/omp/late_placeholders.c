// Tasks with a priority in many short regions: an entry of the queue may be looked at long after its task has
// run, but not after its region has ended.
#include <stdio.h>

enum { regions = 3000, threads = 4, tasks = 5 };

int main(void) {
    long ran = 0;
    for (int region = 0; region < regions; region++)
#pragma omp parallel num_threads(threads)
    {
        for (int i = 0; i < tasks; i++)
#pragma omp task priority(i) shared(ran)
#pragma omp atomic
            ran++;
#pragma omp taskwait
    }
    if (ran != (long)regions * threads * tasks)
        printf("%ld tasks instead of %ld\n", ran, (long)regions * threads * tasks);
    return ran == (long)regions * threads * tasks ? 0 : 1;
}
