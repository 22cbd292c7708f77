// teams and distribute on the host, and what nested regions know of them.
#include <omp.h>

#include "check.h"

// What a program may not ask directly in the construct.
__attribute__((noinline)) static void of_one_team(void) {
    CHECK(omp_get_thread_limit() == 3);
    CHECK(omp_get_level() == 0);
    CHECK(!omp_in_parallel());
    CHECK(omp_get_num_threads() == 1);
    CHECK(omp_get_max_threads() != 17);
    omp_set_num_threads(17);
}

int main(void) {
    int seen[4] = {0}, members = 0;
#pragma omp teams num_teams(4) thread_limit(3) reduction(+ : members)
    {
        const int teams = omp_get_num_teams(), me = omp_get_team_num();
        CHECK(teams >= 1 && teams <= 4);
        CHECK(me >= 0 && me < teams);
        of_one_team();
#pragma omp parallel num_threads(8) reduction(+ : members)
        {
            CHECK(omp_get_num_threads() <= 3);
            CHECK(omp_get_num_teams() == teams);
            CHECK(omp_get_team_num() == me);
            ++members;
            if (omp_get_thread_num() == 0) {
#pragma omp atomic
                ++seen[me];
            }
#pragma omp barrier
#pragma omp single
#pragma omp task
            CHECK(omp_get_team_num() == me);
        }
    }
    CHECK(omp_get_max_threads() != 17);
    CHECK(members >= 1 && members <= 12);
    CHECK(seen[0] == 1);
    CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0);

    int sum = 0;
#pragma omp teams distribute parallel for reduction(+ : sum) num_teams(3)
    for (int i = 0; i < 1000; ++i)
        sum += i;
    CHECK(sum == 499500);
    sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) num_teams(2) map(tofrom : sum)
    for (int i = 0; i < 1000; ++i)
        sum += i;
    CHECK(sum == 499500);
    int teams_run = 0;
#pragma omp target teams num_teams(3) map(tofrom : teams_run)
#pragma omp parallel
#pragma omp masked
#pragma omp atomic
    ++teams_run;
    CHECK(teams_run >= 1 && teams_run <= 3);
    return 0;
}
