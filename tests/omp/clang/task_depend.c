#include <omp.h>

#include "check.h"

// Long lists of dependences.
static void many(void) {
    enum { n = 3000 };
    static int cell[n];
    int sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < n; ++i) {
#pragma omp task depend(out : cell[i])
            cell[i] = i;
        }
#pragma omp task depend(iterator(i = 0 : n), in : cell[i]) depend(out : sum) shared(sum)
        for (int i = 0; i < n; ++i)
            sum += cell[i];
#pragma omp taskwait depend(in : sum)
        EXPECT(sum == n / 2 * (n - 1));
    }
}

int main(void) {
    many();
    enum { n = 200 };
    int chain = 0, order = 1, left[n], readers = 0, x = 0, y = 0, mutual = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : chain) shared(order, chain)
            {
                order = order && chain == i;
                ++chain;
            }
        }
        for (int i = 0; i < n; ++i) {
#pragma omp task depend(out : left[i])
            left[i] = i;
        }
        for (int i = 1; i < n; ++i) {
#pragma omp task depend(in : left[i], left[i - 1]) shared(readers)
            {
                EXPECT(left[i] == i && left[i - 1] == i - 1);
#pragma omp atomic
                ++readers;
            }
        }
#pragma omp task depend(out : x) shared(x)
        x = 5;
#pragma omp task depend(in : x) depend(out : y) shared(x, y) if (0)
        y = x + 1;
        EXPECT(y == 6);
        for (int i = 0; i < 50; ++i) {
#pragma omp task depend(mutexinoutset : mutual) shared(mutual)
            ++mutual;
        }
#pragma omp task depend(in : mutual) shared(mutual)
        EXPECT(mutual == 50);
#pragma omp taskwait depend(in : mutual)
        EXPECT(mutual == 50);
#pragma omp taskwait
    }
    EXPECT(order && chain == n);
    EXPECT(readers == n - 1);
    return 0;
}
