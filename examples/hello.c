/* A task in C. */
#include <stdio.h>

#include <fult/fult.h>

static void *square(void *argument) {
    int *number = argument;
    *number *= *number;
    return number;
}

int main(void) {
    int number = 12;
    void *result = NULL;
    fult_task_t task;
    int status = fult_init(NULL);
    if (status == FULT_SUCCESS)
        status = fult_spawn(&task, square, &number);
    if (status == FULT_SUCCESS)
        status = fult_join(task, &result);
    if (status != FULT_SUCCESS) {
        fprintf(stderr, "%s\n", fult_strerror(status));
        return 1;
    }
    printf("%d\n", *(int *)result);
    fult_finalize();
    return number == 144 ? 0 : 1;
}
