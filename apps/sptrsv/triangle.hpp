// A sparse lower triangular matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/support/failure.hpp"

namespace sptrsv {

using apps::failure;

// Rows and columns count from 0. A matrix has fewer than 2^31 rows.
using index = std::int32_t;

// Compressed rows. Below the diagonal, the entries of row i are those at starts[i] ... starts[i + 1] - 1, in
// the order of their columns.
struct triangle {
    std::vector<std::int64_t> starts; // rows + 1 of them
    std::vector<index> columns;
    std::vector<double> values;
    std::vector<double> diagonal; // none is zero

    index rows() const { return index(diagonal.size()); }
    std::int64_t entries() const { return std::int64_t(values.size()) + rows(); }
    std::int64_t entries_of(index row) const {
        return starts[std::size_t(row) + 1] - starts[std::size_t(row)] + 1;
    }
    std::span<const index> columns_of(index row) const {
        const auto begin = std::size_t(starts[std::size_t(row)]);
        return {columns.data() + begin, std::size_t(starts[std::size_t(row) + 1]) - begin};
    }
    std::span<const double> values_of(index row) const {
        const auto begin = std::size_t(starts[std::size_t(row)]);
        return {values.data() + begin, std::size_t(starts[std::size_t(row) + 1]) - begin};
    }
    bool operator==(const triangle &) const = default;
};

// The transpose with rows and columns in reversed order, which is lower triangular again: backward
// substitution with the transpose is forward substitution with this.
triangle reversed_transpose(const triangle &of);

// Forward substitution in one thread (PPL, section 4.3): x_i = (b_i - sum of l_ij x_j) / l_ii. The division
// is a multiplication with the reciprocal, `inverse`, in all programs.
void substitute(const triangle &of, std::span<const double> inverse, std::span<const double> right,
                std::span<double> x);

std::vector<double> reciprocals(std::span<const double> numbers);

// The product with a vector.
std::vector<double> multiply(const triangle &by, std::span<const double> x);

} // namespace sptrsv
