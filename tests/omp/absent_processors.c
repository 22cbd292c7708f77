// Run with OMP_PLACES='{0,4000},{4000},{0}': processors that do not exist are left out.
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0 || !CPU_ISSET(0, &set))
        return 77;
    int id = -1;
    omp_get_place_proc_ids(0, &id);
    if (omp_get_num_places() == 2 && omp_get_place_num_procs(0) == 1 && id == 0)
        return 0;
    printf("%d places, %d processors in the first one, %d\n", omp_get_num_places(),
           omp_get_place_num_procs(0), id);
    return 1;
}
