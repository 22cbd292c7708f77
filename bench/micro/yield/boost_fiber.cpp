#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>

#include "common/boost_fiber_version.hpp"
#include "micro/yield/yield.hpp"

static void run(unsigned tasks, unsigned yields) {
    std::vector<boost::fibers::fiber> fibers;
    for (unsigned i = 0; i < tasks; ++i)
        fibers.emplace_back(std::allocator_arg, bench::fiber_stacks(), [yields] {
            for (unsigned k = 0; k < yields; ++k)
                boost::this_fiber::yield();
        });
    for (boost::fibers::fiber &each : fibers)
        each.join();
}

int main(int argc, char **argv) { return bench::yield_main(argc, argv, bench::boost_fiber_version, run); }
