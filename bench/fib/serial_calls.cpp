#include "common/kernel.hpp"
#include "fib/fib.hpp"

// The same as serial.cpp, but every call is made: a compiler that inlines the recursion leaves out most of
// them.
[[gnu::noinline]] static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

static constexpr bench::version serial_calls_version{
    "serial_calls", 1, [](unsigned, const std::function<void()> &body) { body(); }};

int main(int argc, char **argv) { return bench::fib_main(argc, argv, serial_calls_version, fib); }
