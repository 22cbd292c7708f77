#include "common/qthreads_version.hpp"
#include "fib/fib.hpp"

static aligned_t fib(void *argument) {
    const std::uint64_t n = reinterpret_cast<std::uintptr_t>(argument);
    if (n < 2)
        return n;
    aligned_t x;
    qthread_fork(fib, reinterpret_cast<void *>(n - 1), &x);
    const std::uint64_t y = fib(reinterpret_cast<void *>(n - 2));
    qthread_readFF(nullptr, &x);
    return x + y;
}

static std::uint64_t compute(unsigned n) { return fib(reinterpret_cast<void *>(std::uintptr_t(n))); }

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::qthreads_version, compute, 34); }
