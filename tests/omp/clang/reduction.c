#include <omp.h>

#include "check.h"

typedef struct {
    double low, high;
} range;
static void widen(range *to, const range *by) {
    if (by->low < to->low)
        to->low = by->low;
    if (by->high > to->high)
        to->high = by->high;
}
#pragma omp declare reduction(widen:range : widen(&omp_out, &omp_in)) initializer(omp_priv = {1e9, -1e9})

int main(void) {
    int sum = 0, product = 1, bits = 0, all = 1, most = -100;
    double d = 0;
    range r = {1e9, -1e9};
    int array[5] = {0};
#pragma omp parallel num_threads(4)
    {
#pragma omp for reduction(+ : sum, d) reduction(| : bits) reduction(max : most)
        for (int i = 0; i < 100; ++i) {
            sum += i;
            d += 0.5;
            bits |= 1 << i % 20;
            if (i > most)
                most = i;
        }
        EXPECT(sum == 4950); /* after the barrier */
#pragma omp for reduction(widen : r) reduction(+ : array[:5]) reduction(&& : all) nowait
        for (int i = -50; i < 50; ++i) {
            const range one = {i, i};
            widen(&r, &one);
            array[(i + 50) % 5] += i;
            all = all && i < 50;
        }
    }
#pragma omp parallel num_threads(5) reduction(* : product)
    product *= omp_get_thread_num() + 1;
    EXPECT(product == 120);
    EXPECT(d == 50 && bits == (1 << 20) - 1 && most == 99 && all);
    EXPECT(r.low == -50 && r.high == 49);
    EXPECT(array[0] + array[1] + array[2] + array[3] + array[4] == -50);
    return 0;
}
