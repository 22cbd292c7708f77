#include <omp.h>

#include "check.h"

int main(void) {
    int sum = 0, seen[100] = {0}, teams = 0;
#pragma omp teams num_teams(3) thread_limit(2) reduction(+ : sum)
    {
        EXPECT(omp_get_num_teams() == 3);
        sum += 1 + omp_get_team_num();
#pragma omp parallel
        EXPECT(omp_get_num_threads() <= 2);
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            teams += omp_get_team_num() + 1;
        }
    }
    EXPECT(sum == 6);
    EXPECT(teams == 12);
#pragma omp teams num_teams(4)
#pragma omp distribute
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++seen[i];
    }
#pragma omp teams distribute parallel for num_teams(3) num_threads(2) schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++seen[i];
    }
#pragma omp teams distribute parallel for dist_schedule(static, 7) num_teams(3) num_threads(2)
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++seen[i];
    }
    for (int i = 0; i < 100; ++i)
        EXPECT(seen[i] == 3);
    return 0;
}
