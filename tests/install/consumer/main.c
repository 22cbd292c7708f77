/* The same in C, linked by a C compiler. */
#include <stdio.h>

#include <fult/fult.h>

static void *twice(void *argument) {
    int *number = argument;
    *number *= 2;
    return number;
}

int main(void) {
    int number = 21;
    void *result = NULL;
    fult_task_t task;
    int status = fult_init(NULL);
    if (status == 0)
        status = fult_spawn(&task, twice, &number);
    if (status == 0)
        status = fult_join(task, &result);
    if (status != 0) {
        fprintf(stderr, "fult: %s\n", fult_strerror(status));
        return 1;
    }
    fult_finalize();
    printf("%d\n", number);
    return result == &number && number == 42 ? 0 : 1;
}
