// Systems as text, in the format of the original:
//
//   rows entries
//   entries of row 0, of row 1, ...
//   for each row: its entries again, then for each of them its value and its column (from 0 on)
//   for each row: guess, right-hand side, exact solution
//
// Numbers are separated by white space of any kind.
#pragma once

#include <functional>
#include <string>

#include "problem.hpp"

namespace hpccg {

// Throws a failure that names the file and, where its text is wrong, line and column ("matrix.txt:3:7: ...").
// Before the large arrays are written, `touch` is called once with all of them in place and the rows' starts
// filled in.
problem read_problem(const std::string &path, const std::function<void(problem &)> &touch);

// With all digits: reading it again gives the same numbers. Throws a failure that names the file.
void write_problem(const std::string &path, const problem &given);

// Writes every page of a system's arrays, by the workers that will use them.
template <class Execution> void touch_problem(const Execution &execution, problem &given) {
    const std::int64_t rows = given.rows();
    touch(execution, given.guess, rows);
    touch(execution, given.right, rows);
    touch(execution, given.solution, rows);
    sparse_matrix &matrix = given.matrix;
    for_row_ranges(execution, rows, [&](std::int64_t first, std::int64_t last) {
        const auto begin = matrix.row_start[std::size_t(first)], end = matrix.row_start[std::size_t(last)];
        std::fill(matrix.columns.data() + begin, matrix.columns.data() + end, 0);
        std::fill(matrix.values.data() + begin, matrix.values.data() + end, 0.0);
    });
}

} // namespace hpccg
