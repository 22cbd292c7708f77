// The table of a generator's dependences is large while many of its tasks wait, and small again afterwards: a
// table that stays large leaves the cache for good, and keeps what ended tasks have left in it.
#include <malloc.h>
#include <omp.h>
#include <stdio.h>

enum { waiting = 60000, first_part = 200000, all = 700000, least_given_back = 4 << 20 };

static char addresses[all];
static int ran;

static size_t in_use(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void generate(int first, int last, const int *after) {
    for (int i = first; i < last; i++)
#pragma omp task depend(in : *after) depend(out : addresses[i])
        ran++;
}

int main(void) {
    size_t large = 0, at_end = 0;
#pragma omp parallel num_threads(1)
    {
        int gate = 0;
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : gate)
        gate = 1;
        generate(0, waiting, &gate);
        omp_fulfill_event(event);
#pragma omp taskwait
        generate(waiting, first_part, &gate);
        large = in_use();
        generate(first_part, all, &gate);
#pragma omp taskwait
        at_end = in_use();
    }
    printf("bytes in use: %zu after many tasks that waited, %zu after many that did not\n", large, at_end);
    return ran == all && at_end + least_given_back < large ? 0 : 1;
}
