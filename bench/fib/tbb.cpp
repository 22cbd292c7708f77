#include "common/tbb_version.hpp"
#include "fib/fib.hpp"

static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    std::uint64_t x;
    tbb::task_group group;
    group.run([n, &x] { x = fib(n - 1); });
    const std::uint64_t y = fib(n - 2);
    group.wait();
    return x + y;
}

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::tbb_version, fib); }
