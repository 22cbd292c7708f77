#include <omp.h>

#include "check.h"

int main(void) {
    long unnamed = 0, named = 0, locked = 0, nested = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4)
    for (int i = 0; i < 1000; ++i) {
#pragma omp critical
        ++unnamed;
#pragma omp critical(a_name)
        ++named;
        omp_set_lock(&lock);
        ++locked;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        EXPECT(omp_test_nest_lock(&nest) == 3);
        ++nested;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
    }
    EXPECT(unnamed == 4000 && named == 4000 && locked == 4000 && nested == 4000);
    EXPECT(omp_test_lock(&lock));
    EXPECT(!omp_test_lock(&lock));
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    return 0;
}
