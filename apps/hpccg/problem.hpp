// A system of linear equations with its known solution.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory.hpp"

namespace hpccg {

// Rows are worked on in blocks of so many. Sums are made block by block, whoever computes them: they do not
// depend on the number of workers.
inline constexpr std::int64_t rows_in_block = 1024;

// Compressed rows: those of row i are at row_start[i] ... row_start[i + 1] - 1.
struct sparse_matrix {
    array<std::int64_t> row_start; // rows + 1 of them
    array<std::int32_t> columns;
    array<double> values;

    std::int64_t rows() const noexcept { return std::int64_t(row_start.size()) - 1; }
    std::int64_t entries() const noexcept { return std::int64_t(values.size()); }
};

struct problem {
    sparse_matrix matrix;
    array<double> guess;                 // where the solver starts
    array<double> right;                 // the right-hand side
    array<double> solution;              // the exact one
    std::int64_t nx = 0, ny = 0, nz = 0; // 0: not from a grid
    std::int64_t outside = 0;            // numbers of others that the rows need, after their own

    std::int64_t rows() const noexcept { return matrix.rows(); }
};

// What the problem and its solver need, in bytes.
inline std::uint64_t bytes_needed(std::uint64_t rows, std::uint64_t entries) {
    constexpr std::uint64_t vectors = 7; // guess, right, solution; x, r, p and A p of the solver
    return rows * (vectors * sizeof(double) + sizeof(std::int64_t)) +
           entries * (sizeof(double) + sizeof(std::int32_t));
}

inline std::int64_t block_count(std::int64_t rows) { return (rows + rows_in_block - 1) / rows_in_block; }

// Calls body(first row, last row + 1) for ranges of whole blocks, as the execution likes.
template <class Execution, class Body>
void for_row_ranges(const Execution &execution, std::int64_t rows, const Body &body) {
    execution.for_ranges(block_count(rows), [&](std::int64_t first, std::int64_t last) {
        body(first * rows_in_block, std::min(last * rows_in_block, rows));
    });
}

// Writes each page once, by the worker that will use it.
template <class Execution, class T>
void touch(const Execution &execution, array<T> &vector, std::int64_t rows) {
    for_row_ranges(execution, rows, [&](std::int64_t first, std::int64_t last) {
        std::fill(vector.data() + first, vector.data() + last, T{});
    });
}

} // namespace hpccg
