#include "common/serial_version.hpp"
#include "nqueens/nqueens.hpp"

static std::uint64_t solutions(bench::board queens, unsigned column, unsigned n) {
    if (column == n)
        return 1;
    std::uint64_t sum = 0;
    for (unsigned row = 0; row < n; ++row)
        if (bench::safe(queens, column, int(row)))
            sum += solutions(queens.with(column, row), column + 1, n);
    return sum;
}

int main(int argc, char **argv) { return bench::nqueens_main(argc, argv, bench::serial_version, solutions); }
