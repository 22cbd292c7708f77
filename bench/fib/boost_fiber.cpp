#include <boost/fiber/fiber.hpp>

#include "common/boost_fiber_version.hpp"
#include "fib/fib.hpp"

static std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    std::uint64_t x;
    boost::fibers::fiber child(std::allocator_arg, bench::fiber_stacks(), [n, &x] { x = fib(n - 1); });
    const std::uint64_t y = fib(n - 2);
    child.join();
    return x + y;
}

// It runs the oldest fiber first, so that all of the tree live at once: a small tree.
int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::boost_fiber_version, fib, 16); }
