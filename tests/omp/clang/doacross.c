#include "check.h"

enum { n = 40, m = 30 };
static int a[n][m];

int main(void) {
#pragma omp parallel num_threads(4)
    {
#pragma omp for ordered(2) schedule(dynamic)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < m; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
                a[i][j] =
                    (int)((unsigned)(i > 0 ? a[i - 1][j] : 0) + (unsigned)(j > 0 ? a[i][j - 1] : 0) + 1u);
#pragma omp ordered depend(source)
            }
    }
    int b[n][m];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
            b[i][j] = (int)((unsigned)(i > 0 ? b[i - 1][j] : 0) + (unsigned)(j > 0 ? b[i][j - 1] : 0) + 1u);
            EXPECT((unsigned)a[i][j] == (unsigned)b[i][j]);
        }
    int chain[100] = {0};
#pragma omp parallel for ordered(1) schedule(static) num_threads(4)
    for (int i = 3; i < 100; i += 2) {
#pragma omp ordered depend(sink : i - 2)
        chain[i] = chain[i - 2] + 1;
#pragma omp ordered depend(source)
    }
    EXPECT(chain[99] == 49);
    return 0;
}
