// Whether a compiler has OpenMP and its library.
#include <omp.h>

int main() { return omp_get_max_threads() > 0 ? 0 : 1; }
