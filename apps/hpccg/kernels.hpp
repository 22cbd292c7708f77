// The three operations of the solver, over blocks of rows.
#pragma once

#include <cstdint>

#include "problem.hpp"

namespace hpccg {

// y = A x
template <class Execution>
void sparsemv(const Execution &execution, const sparse_matrix &matrix, const double *x, double *y) {
    const std::int64_t *const row_start = matrix.row_start.data();
    const std::int32_t *const columns = matrix.columns.data();
    const double *const values = matrix.values.data();
    for_row_ranges(execution, matrix.rows(), [=](std::int64_t first, std::int64_t last) {
        std::int64_t at = row_start[first];
        for (std::int64_t row = first; row < last; ++row) {
            const std::int64_t end = row_start[row + 1];
            double even = 0, odd = 0; // two chains of additions: the processor need not wait for one
            for (; at + 1 < end; at += 2) {
                even += values[at] * x[columns[at]];
                odd += values[at + 1] * x[columns[at + 1]];
            }
            if (at < end)
                even += values[at] * x[columns[at]], ++at;
            y[row] = even + odd;
        }
    });
}

// w = a x + b y; w may be x or y. A factor of one costs no multiplication.
template <class Execution>
void waxpby(const Execution &execution, std::int64_t rows, double a, const double *x, double b,
            const double *y, double *w) {
    for_row_ranges(execution, rows, [=](std::int64_t first, std::int64_t last) {
        if (a == 1.0)
            for (std::int64_t i = first; i < last; ++i)
                w[i] = x[i] + b * y[i];
        else
            for (std::int64_t i = first; i < last; ++i)
                w[i] = a * x[i] + b * y[i];
    });
}

// The sum of x[i] y[i] over a block, in an order that is always the same: eight sums that the compiler may
// keep in vector registers.
inline double block_dot(const double *x, const double *y, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t lanes = 8;
    double sums[lanes] = {};
    std::int64_t i = first;
    for (; i + lanes <= last; i += lanes)
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            sums[lane] += x[i + lane] * y[i + lane];
    for (std::int64_t lane = 0; i < last; ++i, ++lane)
        sums[lane] += x[i] * y[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// The sum over all blocks, in their order. An execution may have blocks elsewhere.
template <class Execution>
double add_up(const Execution &execution, const double *sums, std::int64_t blocks) {
    if constexpr (requires { execution.add_up(sums, blocks); }) {
        return execution.add_up(sums, blocks);
    } else {
        double total = 0;
        for (std::int64_t block = 0; block < blocks; ++block)
            total += sums[block];
        return total;
    }
}

// x . y. `partial` has room for a number for each block; they are added in the order of the blocks, so that
// any number of workers gives the same bits.
template <class Execution>
double ddot(const Execution &execution, std::int64_t rows, const double *x, const double *y,
            array<double> &partial) {
    double *const sums = partial.data();
    const std::int64_t blocks = block_count(rows);
    execution.for_ranges(blocks, [=](std::int64_t first, std::int64_t last) {
        for (std::int64_t block = first; block < last; ++block) {
            const std::int64_t begin = block * rows_in_block;
            sums[block] = block_dot(x, y, begin, std::min(begin + rows_in_block, rows));
        }
    });
    return add_up(execution, sums, blocks);
}

} // namespace hpccg
