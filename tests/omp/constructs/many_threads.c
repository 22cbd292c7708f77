// Regions of hundreds of threads, of more threads than workers, and of more than any system has. The program
// runs itself.
#include <omp.h>

#include "check.h"

static void region_of(int threads) {
    for (int round = 0; round < 3; ++round) {
        long sum = 0;
        int team = 0, tasks = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        {
            sum += omp_get_thread_num();
#pragma omp barrier
#pragma omp single
            team = omp_get_num_threads();
#pragma omp task
            {
#pragma omp atomic
                ++tasks;
            }
        }
        CHECK(team == threads && tasks == threads);
        CHECK(sum == (long)threads * (threads - 1) / 2);
    }
}

// The generator computes, without a scheduling point, until others have run its tasks.
static void hidden_tasks(int threads) {
    int left = 50;
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
        for (int i = 0; i < 50; ++i) {
#pragma omp task shared(left)
#pragma omp atomic
            --left;
        }
        for (int now = 1; now > 0;) {
#pragma omp atomic read
            now = left;
        }
    }
    CHECK(left == 0);
}

static int ends_with(const char *self, const char *threads, const char *text) {
    char command[4096];
    snprintf(command, sizeof command, "OMP_NUM_THREADS=%s '%s' region 2>&1 | grep -q '%s'", threads, self,
             text);
    return system(command) == 0;
}

int main(int count, char **arguments) {
    if (count > 1) {
        int team = 0;
#pragma omp parallel
#pragma omp master
        team = omp_get_num_threads();
        return team == 0;
    }
    region_of(200);
    hidden_tasks(200);
    region_of(1200);
    region_of(3);
    CHECK(ends_with(arguments[0], "100000000",
                    "cannot have 100000000 threads, but 4194304 at most; lower OMP_NUM_THREADS"));
    return 0;
}
