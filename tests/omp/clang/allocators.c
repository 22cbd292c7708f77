#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

int main(void) {
    omp_alloctrait_t traits[] = {
        {omp_atk_alignment, 256}, {omp_atk_pool_size, 10000}, {omp_atk_fallback, omp_atv_null_fb}};
    const omp_allocator_handle_t a = omp_init_allocator(omp_default_mem_space, 3, traits);
    EXPECT(a != omp_null_allocator);
    char *const p = (char *)omp_alloc(6000, a);
    EXPECT(p && (uintptr_t)p % 256 == 0);
    memset(p, 1, 6000);
    EXPECT(omp_alloc(6000, a) == NULL); /* the pool is used up */
    omp_free(p, a);
    char *const q = (char *)omp_calloc(100, 80, a);
    EXPECT(q && q[7999] == 0);
    omp_free(q, omp_null_allocator);
    omp_destroy_allocator(a);

    long sum = 0;
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
        long *const mine = (long *)omp_aligned_alloc(64, sizeof(long), omp_default_mem_alloc);
        EXPECT((uintptr_t)mine % 64 == 0);
        *mine = omp_get_thread_num();
        sum = *mine;
        omp_free(mine, omp_default_mem_alloc);
    }
    EXPECT(sum == 6);
    return 0;
}
