#include "common/argobots_version.hpp"
#include "fib/fib.hpp"

namespace {
struct call {
    unsigned n;
    std::uint64_t result;
};

std::uint64_t fib(unsigned n);

void run(void *argument) {
    call *mine = static_cast<call *>(argument);
    mine->result = fib(mine->n);
}

std::uint64_t fib(unsigned n) {
    if (n < 2)
        return n;
    call child{n - 1, 0};
    ABT_thread thread;
    bench::check_abt(ABT_thread_create(bench::abt_here(), run, &child, ABT_THREAD_ATTR_NULL, &thread),
                     "ABT_thread_create");
    const std::uint64_t y = fib(n - 2);
    ABT_thread_free(&thread); // joins first
    return child.result + y;
}
} // namespace

int main(int argc, char **argv) { return bench::fib_main(argc, argv, bench::argobots_version, fib); }
