#include "common/serial_version.hpp"
#include "fib/fib.hpp"

// As a compiler optimizes it at -O3: with some levels inlined.
static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::serial_version, fib); }
