// environment: OMP_PLACES=threads
#include <omp.h>

#include "check.h"

// `primary` is a number of its own in clang's calls; libomp 14 does not know it.
static void check_policies(int places) {
#pragma omp parallel num_threads(places) proc_bind(close)
    EXPECT(omp_get_place_num() == omp_get_thread_num() && omp_get_proc_bind() == omp_proc_bind_close);
#pragma omp parallel num_threads(places) proc_bind(primary)
    EXPECT(omp_get_place_num() == 0 && omp_get_proc_bind() == omp_proc_bind_master);
#pragma omp parallel num_threads(places) proc_bind(spread)
    EXPECT(omp_get_place_num() == omp_get_thread_num() && omp_get_partition_num_places() == 1);
#pragma omp parallel num_threads(places) proc_bind(master)
    EXPECT(omp_get_place_num() == 0);
}

int main(void) {
    int places = omp_get_num_places();
    EXPECT(places == omp_get_num_procs());
    for (int round = 0; round < 20; ++round)
        check_policies(places);
    return 0;
}
