// A program that locks its memory: what becomes resident is what its threads and tasks use, not what a
// runtime has reserved. Where locking is not permitted, nothing is tested. The program runs itself, with
// stacks of 1 MiB.
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"

static long status_kib(const char *name) {
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = atol(line + strlen(name));
    fclose(file);
    return kib;
}

static void use_threads_and_tasks(void) {
    int ended = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < 100; ++i) {
#pragma omp task
            {
#pragma omp atomic
                ++ended;
            }
        }
#pragma omp taskwait
        CHECK(ended == 100);
    }
}

// Three stacks a thread: the system's, that of the member of the team, and one for a task that waits. What a
// thread allocates beside that is little.
static long most_kib(long before) { return before + 16 * 1024 + omp_get_max_threads() * 4 * 1024L; }

static int locks(void) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) == 0)
        return 1;
    CHECK(errno == ENOMEM || errno == EPERM); // not permitted
    return 0;
}

static int run(int locked_first) {
    const long before = status_kib("VmSize:"); // all of it may become resident
    if (locked_first && !locks())
        return 0;
    use_threads_and_tasks();
    if (!locked_first && !locks())
        return 0;
    use_threads_and_tasks();
    const long now = status_kib("VmRSS:");
    if (now > most_kib(before)) {
        fprintf(stderr, "%ld KiB are resident, instead of at most %ld\n", now, most_kib(before));
        return 1;
    }
    return 0;
}

int main(int count, char **arguments) {
    if (count > 1)
        return run(strcmp(arguments[1], "first") == 0);
    char command[4096];
    snprintf(command, sizeof command, "ulimit -s 1024 && '%s' first && '%s' later", arguments[0],
             arguments[0]);
    CHECK(system(command) == 0);
    return 0;
}
