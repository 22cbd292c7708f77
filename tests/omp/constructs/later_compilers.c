// What gcc 13 and later call, by hand. The functions are weak, as a library of an earlier compiler lacks
// them.
#include <omp.h>
#include <string.h>

#include "check.h"

void GOMP_taskwait_depend_nowait(void **) __attribute__((weak));
int omp_in_explicit_task(void) __attribute__((weak));
int omp_target_is_accessible(const void *, size_t, int) __attribute__((weak));
void *omp_get_mapped_ptr(const void *, int) __attribute__((weak));
int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int, omp_depend_t *)
    __attribute__((weak));
int omp_target_memcpy_rect_async(void *, const void *, size_t, int, const size_t *, const size_t *,
                                 const size_t *, const size_t *, const size_t *, int, int, int,
                                 omp_depend_t *) __attribute__((weak));

static int load(int *from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }
static void count_one(int *to) { __atomic_fetch_add(to, 1, __ATOMIC_ACQ_REL); }

// taskwait depend(inout: a, b) nowait: what follows on b waits for what was before on a.
static void a_wait_that_does_not_wait(void) {
    int a = 0, b = 0, first = 0, second = 0;
    omp_event_handle_t event;
#pragma omp task depend(out : a) detach(event) shared(first)
    count_one(&first);
    void *list[] = {(void *)2, (void *)2, &a, &b};
    GOMP_taskwait_depend_nowait(list);
#pragma omp task depend(in : b) shared(first, second)
    {
        CHECK(load(&first) == 2);
        count_one(&second);
    }
    count_one(&first);
    CHECK(load(&second) == 0);
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(load(&second) == 1);
}

static void copies(void) {
    int from[4] = {1, 2, 3, 4}, to[4] = {0};
    const int here = omp_get_initial_device();
    CHECK(omp_target_is_accessible(from, sizeof from, here));
    CHECK(omp_get_mapped_ptr(from, here) == from);
    omp_depend_t objects[2];
#pragma omp depobj(objects[0]) depend(inout : from)
#pragma omp depobj(objects[1]) depend(in : to)
#pragma omp task depend(out : from) shared(from)
    from[3] = 5;
    CHECK(omp_target_memcpy_async(to, from, sizeof from, 0, 0, here, here, 2, objects) == 0);
#pragma omp taskwait
    CHECK(memcmp(to, from, sizeof from) == 0 && to[3] == 5);
    const size_t volume[] = {1, 2}, to_offsets[] = {1, 0}, from_offsets[] = {0, 1}, dimensions[] = {2, 2};
    CHECK(omp_target_memcpy_rect_async(NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, here, here, 0, NULL) >
          3);
    int square[4] = {0};
    const size_t column[] = {2, 1};
    CHECK(omp_target_memcpy_rect_async(square, from, sizeof(int), 2, column, (size_t[]){0, 0}, from_offsets,
                                       dimensions, dimensions, here, here, 0, NULL) == 0);
    CHECK(square[0] == from[1] && square[2] == from[3] && square[1] == 0);
    CHECK(omp_target_memcpy_rect_async(square, from, sizeof(int), 2, volume, to_offsets, (size_t[]){0, 0},
                                       dimensions, dimensions, here, here, 0, NULL) == 0);
    CHECK(square[2] == from[0] && square[3] == from[1]);
#pragma omp depobj(objects[0]) destroy
#pragma omp depobj(objects[1]) destroy
}

int main(void) {
    if (!GOMP_taskwait_depend_nowait)
        return 0; // of gcc 12
    CHECK(!omp_in_explicit_task());
#pragma omp parallel
#pragma omp single
    {
        CHECK(!omp_in_explicit_task());
#pragma omp task if (0)
        CHECK(omp_in_explicit_task());
#pragma omp task
        CHECK(omp_in_explicit_task());
        a_wait_that_does_not_wait();
        copies();
    }
    return 0;
}
