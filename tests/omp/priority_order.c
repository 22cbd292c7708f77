// Ready tasks run in the order of their priorities, where OMP_MAX_TASK_PRIORITY allows them; one thread.
#include <stdio.h>

int main(void) {
    int order[60], count = 0, wrong = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
    for (int i = 0; i < 60; i++) {
#pragma omp task priority(i % 10) firstprivate(i) shared(order, count)
        order[count++] = i % 10;
    }
    for (int i = 1; i < count; i++)
        wrong += order[i] > order[i - 1];
    if (count != 60 || wrong != 0)
        printf("%d tasks, %d after one of lower priority\n", count, wrong);
    return count == 60 && wrong == 0 ? 0 : 1;
}
