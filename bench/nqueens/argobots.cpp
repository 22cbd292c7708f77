#include "common/argobots_version.hpp"
#include "nqueens/nqueens.hpp"

namespace {
struct call {
    bench::board queens;
    unsigned column;
    unsigned n;
    ABT_thread thread;
    std::uint64_t result;
};

std::uint64_t solutions(bench::board queens, unsigned column, unsigned n);

void run(void *argument) {
    call *mine = static_cast<call *>(argument);
    mine->result = solutions(mine->queens, mine->column, mine->n);
}

std::uint64_t solutions(bench::board queens, unsigned column, unsigned n) {
    if (column == n)
        return 1;
    call calls[bench::most_queens];
    unsigned count = 0;
    for (unsigned row = 0; row < n; ++row) {
        if (!bench::safe(queens, column, int(row)))
            continue;
        call &child = calls[count++];
        child.queens = queens.with(column, row);
        child.column = column + 1;
        child.n = n;
        bench::check_abt(
            ABT_thread_create(bench::abt_here(), run, &child, ABT_THREAD_ATTR_NULL, &child.thread),
            "ABT_thread_create");
    }
    std::uint64_t sum = 0;
    while (count > 0) {
        call &child = calls[--count];
        ABT_thread_free(&child.thread); // joins first
        sum += child.result;
    }
    return sum;
}
} // namespace

int main(int argc, char **argv) {
    return bench::nqueens_main(argc, argv, bench::argobots_version, solutions);
}
