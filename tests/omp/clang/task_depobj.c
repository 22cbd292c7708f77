#include <omp.h>

#include "check.h"

int main(void) {
    int a = 0, seen = 0;
    omp_depend_t d;
#pragma omp depobj(d) depend(inout : a)
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp task depend(depobj : d) shared(a)
        a = 1;
#pragma omp depobj(d) update(in)
#pragma omp task depend(depobj : d) shared(a, seen)
        seen = a;
    }
#pragma omp depobj(d) destroy
    EXPECT(seen == 1);
    return 0;
}
