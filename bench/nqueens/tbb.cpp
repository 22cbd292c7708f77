#include "common/tbb_version.hpp"
#include "nqueens/nqueens.hpp"

static std::uint64_t solutions(bench::board queens, unsigned column, unsigned n) {
    if (column == n)
        return 1;
    std::uint64_t results[bench::most_queens];
    unsigned count = 0;
    tbb::task_group group;
    for (unsigned row = 0; row < n; ++row) {
        if (!bench::safe(queens, column, int(row)))
            continue;
        const bench::board next = queens.with(column, row);
        group.run(
            [next, column, n, result = &results[count++]] { *result = solutions(next, column + 1, n); });
    }
    group.wait();
    std::uint64_t sum = 0;
    while (count > 0)
        sum += results[--count];
    return sum;
}

int main(int argc, char **argv) { return bench::nqueens_main(argc, argv, bench::tbb_version, solutions); }
