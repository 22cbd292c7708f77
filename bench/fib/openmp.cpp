#include "common/openmp_version.hpp"
#include "fib/fib.hpp"

static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    std::uint64_t x;
#pragma omp task shared(x) firstprivate(n)
    x = fib(n - 1);
    const std::uint64_t y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::openmp_version, fib); }
