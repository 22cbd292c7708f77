#include "common/fult_version.hpp"
#include "nqueens/nqueens.hpp"

namespace {
using bench::board;

std::uint64_t solutions(board queens, unsigned column, unsigned n);

// Tries the rows from this one on: a safe one becomes a task, then the rows behind it are tried, then it is
// joined. Returning from calls is well predicted, the end of a loop over so many children is not.
std::uint64_t try_rows(board queens, unsigned column, unsigned row, unsigned n) {
    while (!bench::safe(queens, column, int(row)))
        if (++row == n)
            return 0;
    auto child =
        fult::spawn([next = queens.with(column, row), column, n] { return solutions(next, column + 1, n); });
    const std::uint64_t others = ++row == n ? 0 : try_rows(queens, column, row, n);
    return child.join() + others;
}

std::uint64_t solutions(board queens, unsigned column, unsigned n) {
    return column == n ? 1 : try_rows(queens, column, 0, n);
}
} // namespace

int main(int argc, char **argv) { return bench::nqueens_main(argc, argv, bench::fult_version, solutions); }
