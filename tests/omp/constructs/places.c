// Threads are bound as the policy of their region says, and the functions about places say where.
// environment: OMP_PLACES=threads OMP_MAX_ACTIVE_LEVELS=2
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>

#include "check.h"

enum { most = 64 };

static int mask_is_place(int place) {
    cpu_set_t set;
    int ids[CPU_SETSIZE], count = omp_get_place_num_procs(place);
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != count)
        return 0;
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; i++)
        if (!CPU_ISSET(ids[i], &set))
            return 0;
    return 1;
}

static void check_partition(int first, int count) {
    int numbers[CPU_SETSIZE];
    CHECK(omp_get_partition_num_places() == count);
    omp_get_partition_place_nums(numbers);
    for (int i = 0; i < count; i++)
        CHECK(numbers[i] == first + i);
}

static void check_policies(int places) {
    int size = places < most ? places : most, at[most] = {0};
#pragma omp parallel num_threads(size) proc_bind(close)
    {
        CHECK(omp_get_proc_bind() == omp_proc_bind_close);
        at[omp_get_thread_num()] = omp_get_place_num();
        CHECK(mask_is_place(omp_get_place_num()));
        check_partition(0, places);
    }
    for (int i = 0; i < size; i++)
        CHECK(at[i] == i);
#pragma omp parallel num_threads(size) proc_bind(master)
    {
        CHECK(omp_get_place_num() == 0);
        CHECK(mask_is_place(0));
    }
#pragma omp parallel num_threads(size) proc_bind(spread)
    {
        CHECK(omp_get_place_num() == omp_get_thread_num());
        CHECK(mask_is_place(omp_get_place_num()));
        check_partition(omp_get_thread_num(), 1);
#pragma omp parallel num_threads(2) proc_bind(close)
        CHECK(mask_is_place(omp_get_place_num()));
    }
    // two in each place
#pragma omp parallel num_threads(2 * size) proc_bind(close)
    {
        if (size == places)
            CHECK(omp_get_place_num() == omp_get_thread_num() / 2);
        CHECK(mask_is_place(omp_get_place_num()));
    }
}

int main(void) {
    int places = omp_get_num_places();
    CHECK(places == omp_get_num_procs());
    CHECK(omp_get_place_num() == 0);
    CHECK(mask_is_place(0));
    CHECK(omp_get_place_num_procs(-1) == 0 && omp_get_place_num_procs(places) == 0);
    check_partition(0, places);
    for (int round = 0; round < 20; round++)
        check_policies(places);
    CHECK(omp_get_place_num() == 0);
    return 0;
}
