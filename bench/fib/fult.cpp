#include "common/fult_version.hpp"
#include "fib/fib.hpp"

static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    auto x = fult::spawn([n] { return fib(n - 1); });
    const std::uint64_t y = fib(n - 2);
    return x.join() + y;
}

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::fult_version, fib); }
