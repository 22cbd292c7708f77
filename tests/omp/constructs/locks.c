// Locks and nested locks, of members and of tasks, with hints; time; the rest of the functions.
#include <omp.h>
#include <string.h>

#include "check.h"

int main(void) {
    omp_lock_t lock, hinted;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
#ifdef __clang__
    omp_init_lock_with_hint(&hinted, omp_sync_hint_contended);
#else // libgomp has no such function
    omp_init_lock(&hinted);
#endif
    omp_init_nest_lock(&nest);
    long a = 0, b = 0, c = 0, tested = 0;
#pragma omp parallel reduction(+ : tested)
    {
        for (int i = 0; i < 2000; ++i) {
            omp_set_lock(&lock);
            ++a;
            omp_unset_lock(&lock);
            if (omp_test_lock(&hinted)) {
                ++b;
                ++tested;
                omp_unset_lock(&hinted);
            }
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            CHECK(omp_test_nest_lock(&nest) == 3);
            ++c;
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
            omp_unset_nest_lock(&nest);
        }
        for (int i = 0; i < 100; ++i) {
#pragma omp task shared(a)
            {
                omp_set_lock(&lock);
                ++a;
                omp_unset_lock(&lock);
            }
        }
    }
    const int members = omp_get_max_threads();
    CHECK(a == 2100L * members && b == tested && c == 2000L * members);
    omp_set_nest_lock(&nest);
    // the task is another owner
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task if (0)
    CHECK(omp_test_nest_lock(&nest) == 0);
    omp_unset_nest_lock(&nest);
    omp_destroy_lock(&lock);
    omp_destroy_lock(&hinted);
    omp_destroy_nest_lock(&nest);

    const double from = omp_get_wtime();                   // time: a lower bound
    CHECK(omp_get_wtick() > 0 && omp_get_wtime() >= from); // time: a lower bound
    CHECK(omp_get_num_procs() >= 1 && omp_get_num_devices() == 0);
    CHECK(omp_is_initial_device() && omp_get_initial_device() == omp_get_num_devices());
    CHECK(omp_get_team_num() == 0 && omp_get_num_teams() == 1);
    CHECK(omp_get_supported_active_levels() > 0);
    char text[100];
    omp_set_affinity_format("%{nesting_level}|%5n|%.4N|%%");
    CHECK(omp_get_affinity_format(text, sizeof text) == 28 &&
          strcmp(text, "%{nesting_level}|%5n|%.4N|%%") == 0);
    CHECK(omp_capture_affinity(text, sizeof text, NULL) == 14);
    CHECK(strcmp(text, "0|0    |   1|%") == 0);
    CHECK(omp_get_affinity_format(NULL, 0) == 28);
    CHECK(omp_pause_resource_all(omp_pause_soft) == 0);
    int members_after = 0;
#pragma omp parallel reduction(+ : members_after)
    ++members_after;
    CHECK(members_after == members);
    return 0;
}
