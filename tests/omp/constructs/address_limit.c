// Two threads, and many tasks, within a gibibyte of addresses (ulimit -v), as batch systems limit them. The
// program runs itself.
#include <omp.h>

#include "check.h"

enum { tasks = 200000 };

static int with_few_addresses(void) {
    int members = 0, ended = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members += 1;
    CHECK(members == 2);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < tasks; ++i) {
#pragma omp task
        {
#pragma omp atomic
            ++ended;
        }
    }
    CHECK(ended == tasks);
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        return with_few_addresses();
    char command[4096];
    snprintf(command, sizeof command, "ulimit -s 8192 || exit 0; ulimit -v 1048576 || exit 0; '%s' limited",
             arguments[0]);
    CHECK(system(command) == 0);
    return 0;
}
