// n queens: counts the ways to place n queens that do not attack each other, a task a placement that is safe
// so far.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/kernel.hpp"

namespace bench {

inline constexpr unsigned most_queens = 16;

// The row of the queen in each column so far, four bits a column. A task owns a copy.
struct board {
    std::uint64_t rows = 0;
    int row(unsigned column) const noexcept { return static_cast<int>(rows >> (4 * column) & 15); }
    board with(unsigned column, unsigned row) const noexcept {
        return {rows | std::uint64_t{row} << (4 * column)};
    }
};

// Whether a queen in this column and row attacks none in the columns before.
inline bool safe(board queens, unsigned column, int row) noexcept {
    for (unsigned i = 0; i < column; ++i) {
        const int other = queens.row(i);
        const int distance = static_cast<int>(column - i);
        if (other == row || other == row - distance || other == row + distance)
            return false;
    }
    return true;
}

struct queens_answer {
    std::uint64_t solutions;
    std::uint64_t tasks; // safe placements, complete or not
};
inline constexpr std::array<queens_answer, most_queens + 1> queens_answers{{
    {1, 0},
    {1, 1},
    {0, 2},
    {0, 5},
    {2, 16},
    {10, 53},
    {4, 152},
    {40, 551},
    {92, 2056},
    {352, 8393},
    {724, 35538},
    {2680, 166925},
    {14200, 856188},
    {73712, 4674889},
    {365596, 27358552},
    {2279184, 171129071},
    {14772512, 1141190302},
}};

// compute(board, columns filled, n) returns the number of solutions below a board.
inline int nqueens_main(int argc, char **argv, const version &how,
                        std::uint64_t (*compute)(board, unsigned, unsigned)) {
    unsigned n = 12;
    kernel_settings settings;
    arguments line("nqueens: counts the solutions of the n queens problem, a task per placement.");
    line.option("-n,--size", n, "queens and columns");
    settings.declare(line);
    line.parse(argc, argv);
    if (n < 1 || n > most_queens)
        arguments::fail("the number of queens must lie in 1 ... " + std::to_string(most_queens));

    std::uint64_t solutions = 0;
    job work;
    work.benchmark = "nqueens";
    work.name = std::to_string(n);
    work.tasks = queens_answers[n].tasks;
    work.warm_up = [&] { solutions = compute(board{}, 0, n < 8 ? n : 8); };
    work.compute = [&] { solutions = compute(board{}, 0, n); };
    work.check = [&] {
        return solutions == queens_answers[n].solutions
                   ? std::string()
                   : std::to_string(solutions) + " solutions instead of " +
                         std::to_string(queens_answers[n].solutions);
    };
    return run_kernel(how, settings, work);
}

} // namespace bench
