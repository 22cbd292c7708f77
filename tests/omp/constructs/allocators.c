// Allocators, their traits, and the allocate clause.
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

static void alignment(void) {
    const omp_alloctrait_t traits[] = {{omp_atk_alignment, 128}};
    const omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 1, traits);
    CHECK(a != omp_null_allocator);
    char *p = omp_alloc(100, a);
    CHECK(p && (uintptr_t)p % 128 == 0);
    memset(p, 1, 100);
    p = omp_realloc(p, 1000, a, a);
    CHECK(p && (uintptr_t)p % 128 == 0 && p[99] == 1);
    omp_free(p, a);
    p = omp_aligned_calloc(256, 10, 10, a);
    CHECK(p && (uintptr_t)p % 256 == 0 && p[50] == 0);
    omp_free(p, omp_null_allocator);
    omp_destroy_allocator(a);
}

static void pool(void) {
    const omp_alloctrait_t traits[] = {{omp_atk_pool_size, 4096}, {omp_atk_fallback, omp_atv_null_fb}};
    const omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 2, traits);
    CHECK(a != omp_null_allocator);
    void *const p = omp_alloc(3000, a);
    CHECK(p);
    CHECK(!omp_alloc(3000, a));
    omp_free(p, a);
    void *const q = omp_alloc(3000, a);
    CHECK(q);
    omp_free(q, a);
    // a pool holds what the library adds as well
    void *const half = omp_alloc(2048, a);
    CHECK(half && !omp_alloc(2048, a));
    omp_free(half, a);
    // the new memory takes the place of the old one
    char *s = omp_alloc(2500, a);
    CHECK(s);
    s[2499] = 7;
    s = omp_realloc(s, 3500, a, a);
    CHECK(s && s[2499] == 7);
    CHECK(!omp_realloc(s, 5000, a, a));
    CHECK(!omp_alloc(1000, a));
    s = omp_realloc(s, 1000, a, a);
    CHECK(s);
    void *const beside = omp_alloc(2500, a);
    CHECK(beside);
    omp_free(beside, a);
    omp_free(s, a);
    const omp_alloctrait_t chained[] = {{omp_atk_pool_size, 64},
                                        {omp_atk_fallback, omp_atv_allocator_fb},
                                        {omp_atk_fb_data, (omp_uintptr_t)a}};
    const omp_allocator_handle_t b = omp_init_allocator(omp_default_mem_space, 3, chained);
    void *const r = omp_alloc(3000, b);
    CHECK(r);
    CHECK(!omp_alloc(3000, b));
    omp_free(r, b);
    omp_destroy_allocator(b);
    omp_destroy_allocator(a);
}

static void plain(void) {
    CHECK(omp_get_default_allocator() == omp_default_mem_alloc);
    omp_set_default_allocator(omp_large_cap_mem_alloc);
    CHECK(omp_get_default_allocator() == omp_large_cap_mem_alloc);
    omp_set_default_allocator(omp_default_mem_alloc);
    CHECK(!omp_alloc(0, omp_default_mem_alloc));
    CHECK(!omp_calloc((size_t)-1, 16, omp_default_mem_alloc));
    int *const p = omp_calloc(100, sizeof *p, omp_null_allocator);
    CHECK(p && p[99] == 0);
    omp_free(p, omp_null_allocator);
    omp_free(NULL, omp_null_allocator);
    const omp_alloctrait_t wrong[] = {{omp_atk_alignment, 3}};
    CHECK(omp_init_allocator(omp_default_mem_space, 1, wrong) == omp_null_allocator);
}

static void clause(void) {
    long x = 5;
    int sum = 0;
#pragma omp parallel firstprivate(x) allocate(omp_default_mem_alloc : x) reduction(+ : sum)
    {
        CHECK(x == 5);
        x += omp_get_thread_num();
        sum += (int)x;
    }
    const int n = omp_get_max_threads();
    CHECK(sum == 5 * n + n * (n - 1) / 2);
}

int main(void) {
    alignment();
    pool();
    plain();
    clause();
    return 0;
}
