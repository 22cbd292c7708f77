#include "check.h"

int main(void) {
    int ran[5] = {0}, last = -1;
#pragma omp parallel num_threads(3)
    {
#pragma omp sections lastprivate(last)
        {
#pragma omp section
            ran[0]++;
#pragma omp section
    ran[1]++;
#pragma omp section
    ran[2]++;
#pragma omp section
    {
        ran[3]++;
        last = 3;
    }
}
}
#pragma omp parallel sections num_threads(2)
{
#pragma omp section
    ran[4]++;
}
for (int i = 0; i < 5; ++i)
    EXPECT(ran[i] == 1);
EXPECT(last == 3);
return 0;
}
