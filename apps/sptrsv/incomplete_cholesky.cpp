#include "incomplete_cholesky.hpp"

#include <cmath>
#include <string>

namespace sptrsv {
namespace {

// The product of two rows, over the columns that both have before `end`.
double product(const triangle &factor, index a, index b, index end) {
    const auto columns_a = factor.columns_of(a), columns_b = factor.columns_of(b);
    const auto values_a = factor.values_of(a), values_b = factor.values_of(b);
    double sum = 0;
    for (std::size_t i = 0, j = 0;
         i < columns_a.size() && j < columns_b.size() && columns_a[i] < end && columns_b[j] < end;) {
        if (columns_a[i] == columns_b[j])
            sum += values_a[i++] * values_b[j++];
        else if (columns_a[i] < columns_b[j])
            ++i;
        else
            ++j;
    }
    return sum;
}

} // namespace

triangle incomplete_cholesky(const triangle &of) {
    triangle factor = of; // entries of rows that are not reached yet are those of the matrix
    for (index row = 0; row < factor.rows(); ++row) {
        double &pivot = factor.diagonal[std::size_t(row)];
        const auto columns = factor.columns_of(row);
        double *const values = factor.values.data() + factor.starts[std::size_t(row)];
        for (std::size_t k = 0; k < columns.size(); ++k) {
            values[k] = (values[k] - product(factor, row, columns[k], columns[k])) /
                        factor.diagonal[std::size_t(columns[k])];
            pivot -= values[k] * values[k];
        }
        if (!(pivot > 0) || !std::isfinite(pivot))
            throw failure("the incomplete Cholesky factorization breaks down in row " +
                          std::to_string(row + 1) + ", whose pivot is " + std::to_string(pivot) +
                          "; use --factor=triangle, or a matrix with a larger diagonal");
        pivot = std::sqrt(pivot);
    }
    return factor;
}

} // namespace sptrsv
