/* The atomic updates by call, which only clang's library has: other compilers' programs skip this test. */
#include <complex.h>

#include "check.h"

#if defined(__clang__)
void __kmpc_atomic_fixed4_add(void *where, int thread, int *at, int by);
void __kmpc_atomic_fixed1_shl(void *where, int thread, char *at, char by);
int __kmpc_atomic_fixed4_sub_cpt_rev(void *where, int thread, int *at, int by, int after);
void __kmpc_atomic_fixed8u_div(void *where, int thread, unsigned long *at, unsigned long by);
void __kmpc_atomic_fixed2_mul_float8(void *where, int thread, short *at, double by);
void __kmpc_atomic_float8_max(void *where, int thread, double *at, double by);
void __kmpc_atomic_float10_add(void *where, int thread, long double *at, long double by);
long double __kmpc_atomic_float10_rd(void *where, int thread, long double *at);
void __kmpc_atomic_cmplx4_mul(void *where, int thread, float complex *at, float complex by);
void __kmpc_atomic_cmplx4_add_cpt(void *where, int thread, float complex *at, float complex by,
                                  float complex *out, int after);
double complex __kmpc_atomic_cmplx8_swp(void *where, int thread, double complex *at, double complex by);
_Bool __kmpc_atomic_bool_2_cas(void *where, int thread, short *at, short expected, short desired);
void __kmpc_atomic_4(void *where, int thread, void *at, void *by, void (*f)(void *, void *, void *));

static void subtract(void *result, void *a, void *b) { *(int *)result = *(int *)a - *(int *)b; }

int main(void) {
    int i = 0;
    long double l = 0;
#pragma omp parallel num_threads(4)
    for (int k = 0; k < 1000; ++k) {
        __kmpc_atomic_fixed4_add(0, 0, &i, 2);
        __kmpc_atomic_float10_add(0, 0, &l, 1.5L);
    }
    EXPECT(i == 8000 && l == 6000);
    EXPECT(__kmpc_atomic_float10_rd(0, 0, &l) == 6000);
    EXPECT(__kmpc_atomic_fixed4_sub_cpt_rev(0, 0, &i, 10000, 1) == 2000 && i == 2000);
    EXPECT(__kmpc_atomic_fixed4_sub_cpt_rev(0, 0, &i, 0, 0) == 2000 && i == -2000);
    int by = 5;
    __kmpc_atomic_4(0, 0, &i, &by, subtract);
    EXPECT(i == -2005);
    char c = 3;
    __kmpc_atomic_fixed1_shl(0, 0, &c, 2);
    EXPECT(c == 12);
    unsigned long u = ~0ul;
    __kmpc_atomic_fixed8u_div(0, 0, &u, 2);
    EXPECT(u == ~0ul / 2);
    short s = 10;
    __kmpc_atomic_fixed2_mul_float8(0, 0, &s, 2.5);
    EXPECT(s == 25);
    EXPECT(__kmpc_atomic_bool_2_cas(0, 0, &s, 25, 7) && s == 7);
    EXPECT(!__kmpc_atomic_bool_2_cas(0, 0, &s, 25, 9) && s == 7);
    double d = 1;
    __kmpc_atomic_float8_max(0, 0, &d, 2);
    EXPECT(d == 2);
    float complex f = 1 + 2 * I, out;
    __kmpc_atomic_cmplx4_mul(0, 0, &f, I);
    EXPECT(f == -2 + I);
    __kmpc_atomic_cmplx4_add_cpt(0, 0, &f, 2, &out, 1);
    EXPECT(out == I && f == I);
    double complex g = 3;
    EXPECT(__kmpc_atomic_cmplx8_swp(0, 0, &g, I) == 3 && g == I);
    return 0;
}
#else
int main(void) { return 0; }
#endif
