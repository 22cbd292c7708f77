#include "common/qthreads_version.hpp"
#include "nqueens/nqueens.hpp"

namespace {
struct call {
    bench::board queens;
    unsigned column;
    unsigned n;
    aligned_t result;
};

std::uint64_t solutions(bench::board queens, unsigned column, unsigned n);

aligned_t run(void *argument) {
    const call *mine = static_cast<const call *>(argument);
    return solutions(mine->queens, mine->column, mine->n);
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
        qthread_fork(run, &child, &child.result);
    }
    std::uint64_t sum = 0;
    while (count > 0) {
        call &child = calls[--count];
        qthread_readFF(nullptr, &child.result);
        sum += child.result;
    }
    return sum;
}
} // namespace

int main(int argc, char **argv) {
    return bench::nqueens_main(argc, argv, bench::qthreads_version, solutions);
}
