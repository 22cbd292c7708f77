// Private data of 40 MiB in regions and tasks, as ulimit -s and OMP_STACKSIZE allow. The program runs itself.
#include <omp.h>
#include <string.h>

#include "check.h"

static __attribute__((noinline)) int use(size_t size) {
    volatile char data[size];
    for (size_t i = 0; i < size; i += 4096)
        data[i] = 1;
    return data[0];
}

static int with_large_data(void) {
    const size_t size = (size_t)40 << 20;
    int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
    members += use(size);
    CHECK(members == 3);
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task
        CHECK(use(size) == 1);
    }
    return 0;
}

static int status_of(const char *self, const char *before, const char *after) {
    char command[4096];
    snprintf(command, sizeof command, "%s '%s' large %s", before, self, after);
    return system(command);
}

int main(int count, char **arguments) {
    if (count > 1)
        return with_large_data();
    // where the system allows it
    CHECK(status_of(arguments[0], "ulimit -s 65536 || exit 0;", "") == 0);
    CHECK(status_of(arguments[0], "ulimit -s 65536 || exit 0; OMP_STACKSIZE=64M", "") == 0);
    CHECK(status_of(arguments[0], "ulimit -s 65536 || exit 0; OMP_STACKSIZE=2G",
                    "2>&1 | grep -q 'OMP_STACKSIZE=2G: stacks have 1 GiB'") == 0);
    return 0;
}
