// Prints the number of processors, the usual number of threads, and the size of a team. quota_test.py runs
// it.
#include <omp.h>
#include <stdio.h>

int main(void) {
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members += 1;
    printf("%d %d %d\n", omp_get_num_procs(), omp_get_max_threads(), members);
    return 0;
}
