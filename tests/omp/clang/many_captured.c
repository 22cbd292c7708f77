/* More captured variables than fit into registers, and into the first lengths of an argument list. */
#include "check.h"

#define TEN(f, n) f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define ALL(f) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7)
#define DECLARE(n) int v##n = n;
#define ADD(n) sum += v##n;
#define TOUCH(n) v##n = v##n + 0 * (int)(sum & 1);

int main(void) {
    long sum = 0;
    ALL(DECLARE)
#pragma omp parallel num_threads(3)
#pragma omp critical
    {
        ALL(ADD)
        ALL(TOUCH)
    }
    long expected = 0;
    for (int i = 10; i < 80; ++i)
        expected += i;
    EXPECT(sum == 3 * expected);
    return 0;
}
