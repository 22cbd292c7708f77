// Control variables of the environment, by nesting level, and their changes.
// environment: OMP_NUM_THREADS=4,2,3 OMP_SCHEDULE=guided,7 OMP_DISPLAY_ENV=verbose OMP_MAX_ACTIVE_LEVELS=5
// environment: OMP_THREAD_LIMIT=64 OMP_STACKSIZE=16M OMP_MAX_TASK_PRIORITY=9 OMP_WAIT_POLICY=passive
// OMP_DYNAMIC=false
#include <omp.h>
#include <string.h>

#include "check.h"

static int deep(int n) {
    char frame[1 << 14];
    memset(frame, n, sizeof frame);
    return n == 0 ? frame[5] : deep(n - 1) + (frame[n] == (char)n);
}

int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK(kind == omp_sched_guided && chunk == 7);
    CHECK(omp_get_max_threads() == 4);
    CHECK(omp_get_max_active_levels() == 5);
    CHECK(omp_get_thread_limit() == 64);
    CHECK(omp_get_max_task_priority() == 9);
    CHECK(!omp_get_dynamic());
    int outer = 0, inner = 0, deepest = 0;
#pragma omp parallel reduction(+ : outer, inner, deepest)
    {
        ++outer;
        CHECK(omp_get_max_threads() == 2);
#pragma omp parallel reduction(+ : inner, deepest)
        {
            ++inner;
            CHECK(omp_get_max_threads() == 3);
#pragma omp parallel reduction(+ : deepest)
            {
                ++deepest;
                CHECK(omp_get_level() == 3 && omp_get_active_level() == 3);
                CHECK(omp_get_team_size(0) == 1 && omp_get_team_size(1) == 4);
                CHECK(omp_get_team_size(2) == 2 && omp_get_team_size(3) == 3 && omp_get_team_size(4) == -1);
                CHECK(omp_get_ancestor_thread_num(0) == 0);
                CHECK(omp_get_ancestor_thread_num(3) == omp_get_thread_num());
            }
        }
        omp_set_num_threads(5);
        int mine = 0;
#pragma omp parallel reduction(+ : mine)
        ++mine;
        CHECK(mine == 5);
        CHECK(deep(700) == 700);
    }
    CHECK(outer == 4 && inner == 8 && deepest == 24);
    CHECK(omp_get_max_threads() == 4);
    omp_set_schedule(omp_sched_static, 0);
    omp_get_schedule(&kind, &chunk);
    CHECK(kind == omp_sched_static);
    char text[64];
    CHECK(omp_capture_affinity(text, sizeof text, "%0.5a|%0.4L|%.3L|%3Lx") == 19);
    CHECK(strcmp(text, "-0001|0000|  0|0  x") == 0);
    omp_display_env(1);
    return 0;
}
