// Configure asks with this whether a compiler comes with an OpenMP runtime.
#include <omp.h>

int main() { return omp_get_max_threads() > 0 ? 0 : 1; }
