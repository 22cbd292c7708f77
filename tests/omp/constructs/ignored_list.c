// A list with an item that is not understood is ignored as a whole.
// environment: OMP_PROC_BIND=close,spread,wrong
#include <omp.h>

#include "check.h"

int main(void) {
    CHECK(omp_get_proc_bind() == omp_proc_bind_false);
#pragma omp parallel
    CHECK(omp_get_proc_bind() == omp_proc_bind_false);
    return 0;
}
