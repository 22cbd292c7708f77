#include <omp.h>

#include "check.h"

int main(void) {
    int members = 0, sum = 0, captured[20] = {0};
#pragma omp parallel num_threads(4) reduction(+ : members)
    {
        members = 1;
#pragma omp critical
        sum += omp_get_thread_num();
        EXPECT(omp_get_num_threads() == 4);
        EXPECT(omp_in_parallel());
        captured[omp_get_thread_num()] = 1;
    }
    EXPECT(members == 4);
    EXPECT(sum == 6);
    EXPECT(captured[3] == 1);

    int alone = 0;
#pragma omp parallel if (members == 0) num_threads(4)
    {
        EXPECT(omp_get_num_threads() == 1);
        EXPECT(omp_get_level() == 1);
#pragma omp atomic
        ++alone;
    }
    EXPECT(alone == 1);

    omp_set_max_active_levels(2);
    int inner = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
    {
        EXPECT(omp_get_level() == 2);
        EXPECT(omp_get_team_size(1) == 2);
        EXPECT(omp_get_ancestor_thread_num(2) == omp_get_thread_num());
#pragma omp atomic
        ++inner;
    }
    EXPECT(inner == 6);
    return 0;
}
