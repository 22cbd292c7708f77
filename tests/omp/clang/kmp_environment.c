// What libomp's own variables do: KMP_AFFINITY, and those that have the meaning of a variable of OpenMP. The
// program runs itself.
// libraries: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static cpu_set_t own_mask(void) {
    cpu_set_t mask;
    EXPECT(sched_getaffinity(0, sizeof mask, &mask) == 0);
    return mask;
}

// In the program that is run: where threads are.
static int bound_at(const char *list) { // thread i is bound to processor i of the list alone
    int at[2] = {-1, -1}, wrong = 0;
    EXPECT(sscanf(list, "%d,%d", &at[0], &at[1]) >= 1);
    const int threads = at[1] >= 0 ? 2 : 1;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
    {
        cpu_set_t mask = own_mask();
        wrong += CPU_COUNT(&mask) != 1 || !CPU_ISSET(at[omp_get_thread_num()], &mask);
    }
    return wrong;
}
static int bound_apart(int processors) { // each thread has a processor of its own
    int wrong = 0;
    cpu_set_t all;
    CPU_ZERO(&all);
#pragma omp parallel num_threads(processors) reduction(+ : wrong)
    {
        cpu_set_t mask = own_mask();
        wrong += CPU_COUNT(&mask) != 1;
#pragma omp critical
        CPU_OR(&all, &all, &mask);
    }
    return wrong + (CPU_COUNT(&all) != processors);
}
static int bound_nowhere(int processors) {
    int wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        cpu_set_t mask = own_mask();
        wrong += CPU_COUNT(&mask) != processors;
    }
    return wrong;
}
static int team_size(void) {
    int size = 0;
#pragma omp parallel num_threads(3) reduction(+ : size)
    ++size;
    return size;
}

static char said[1 << 16];

static int run(const char *self, const char *environment, const char *arguments) {
    char command[4096];
    snprintf(command, sizeof command, "env %s '%s' %s 2>&1", environment, self, arguments);
    FILE *const out = popen(command, "r");
    EXPECT(out);
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    const int status = pclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static int says(const char *what) { return strstr(said, what) != NULL; }

int main(int words, char **arguments) {
    if (words > 2) {
        const int number = atoi(arguments[2]);
        switch (*arguments[1]) {
        case 'a':
            return bound_at(arguments[2]);
        case 'd':
            return bound_apart(number);
        case 'n':
            return bound_nowhere(number);
        default:
            return team_size() != number;
        }
    }
    const char *const self = arguments[0];
    unsetenv("OMP_NUM_THREADS");
    const cpu_set_t mask = own_mask();
    int processors = CPU_COUNT(&mask), first = -1, last = -1;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &mask)) {
            first = first < 0 ? i : first;
            last = i;
        }
    char environment[256], where[64];

    snprintf(environment, sizeof environment, "'KMP_AFFINITY=explicit,proclist=[%d,%d]'", last, first);
    snprintf(where, sizeof where, "at %d,%d", last, first);
    EXPECT(run(self, environment, where) == 0 && !*said);
    snprintf(environment, sizeof environment,
             "'KMP_AFFINITY=granularity=fine,explicit,proclist=[{%d},%d-%d:1]'", last, first, first);
    EXPECT(run(self, environment, where) == 0 && !*said);
    const char *const apart[] = {"compact",     "compact,1,0", "scatter",
                                 "scatter,0,1", "compact,0,1", "noverbose,compact"};
    snprintf(where, sizeof where, "distinct %d", processors);
    for (int i = 0; i < 6; ++i) {
        snprintf(environment, sizeof environment, "KMP_AFFINITY=granularity=fine,%s", apart[i]);
        EXPECT(run(self, environment, where) == 0 && !*said);
    }
    snprintf(where, sizeof where, "nowhere %d", processors);
    EXPECT(run(self, "KMP_AFFINITY=none", where) == 0 && !*said);
    EXPECT(run(self, "KMP_AFFINITY=disabled", where) == 0 && !*said);
    EXPECT(run(self, "KMP_AFFINITY=sideways", where) == 0 && says("KMP_AFFINITY") && says("sideways"));
    EXPECT(run(self, "KMP_AFFINITY=explicit", where) == 0 && says("KMP_AFFINITY"));
    EXPECT(run(self, "KMP_AFFINITY=none OMP_PROC_BIND=close", where) == 0 && says("OMP_PROC_BIND"));

    EXPECT(run(self, "KMP_LIBRARY=serial", "size 1") == 0 && !*said);
    EXPECT(run(self, "KMP_LIBRARY=turnaround", "size 3") == 0 && !*said);
    EXPECT(run(self, "KMP_DEVICE_THREAD_LIMIT=2", "size 2") == 0);
    EXPECT(run(self, "KMP_STACKSIZE=4M OMP_DISPLAY_ENV=true", "size 3") == 0 &&
           (says("OMP_STACKSIZE='4M'") || says("OMP_STACKSIZE = '4194304'")));
    EXPECT(run(self, "KMP_STACKSIZE=wide", "size 3") == 0 && says("KMP_STACKSIZE"));
    EXPECT(run(self, "KMP_BLOCKTIME=20", "size 3") == 0 && !*said);
    EXPECT(run(self, "KMP_BLOCKTIME=infinite", "size 3") == 0 && !*said);
    EXPECT(run(self, "KMP_BLOCKTIME=long", "size 3") == 0 && says("KMP_BLOCKTIME"));
    EXPECT(run(self, "KMP_SETTINGS=1", "size 3") == 0 && says("OMP_STACKSIZE"));
    EXPECT(run(self, "KMP_DUPLICATE_LIB_OK=TRUE", "size 3") == 0 && !*said);
    if (dlsym(RTLD_DEFAULT, "fult_omp_start_runtime")) { // what libomp itself heeds, or not, in silence
        EXPECT(run(self, "KMP_TASKING=1 KMP_HW_SUBSET=1c", "size 3") == 0 && says("KMP_TASKING") &&
               says("KMP_HW_SUBSET"));
        EXPECT(run(self, "KMP_TASKING=1 KMP_WARNINGS=0", "size 3") == 0 && !*said);
        EXPECT(run(self, "KMP_BLOCKTIME=20 OMP_DISPLAY_ENV=verbose", "size 3") == 0 &&
               says("FULT_IDLE_SPIN = '20000'"));
        EXPECT(run(self, "GOMP_SPINCOUNT=3000 OMP_DISPLAY_ENV=verbose", "size 3") == 0 &&
               says("FULT_IDLE_SPIN = '30'"));
    }
    return 0;
}
