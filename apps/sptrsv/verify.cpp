#include "verify.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace sptrsv {
namespace {

// As std::max, but what is no number stays.
double larger(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

// A share of 0 if nothing is off, though nothing may be.
double share(double off, double possible) { return off == 0 ? 0 : off / possible; }

// b - L x and |L| |x| of a row.
struct row_sums {
    double residual, magnitude;
};
row_sums sums_of(const triangle &of, index row, std::span<const double> right, std::span<const double> x) {
    const auto columns = of.columns_of(row);
    const auto values = of.values_of(row);
    const auto own = std::size_t(row);
    const double last = of.diagonal[own] * x[own];
    row_sums sums{right[own], std::abs(last)};
    for (std::size_t k = 0; k < columns.size(); ++k) {
        const double product = values[k] * x[std::size_t(columns[k])];
        sums.residual -= product;
        sums.magnitude += std::abs(product);
    }
    sums.residual -= last;
    return sums;
}

} // namespace

void verdict::combine(const verdict &other) {
    difference = larger(difference, other.difference);
    difference_share = larger(difference_share, other.difference_share);
    residual = larger(residual, other.residual);
    residual_share = larger(residual_share, other.residual_share);
}

std::string verdict::text() const {
    char line[200];
    std::snprintf(line, sizeof line,
                  "it differs from the serial solution by %g, %.3g times what rounding can do; its residual "
                  "is %g, %.3g times",
                  difference, difference_share, residual, residual_share);
    return line;
}

verifier::verifier(const triangle &of, std::span<const double> right, int ranks)
    : of_(of), right_(right), ranks_(ranks), serial_(right.size()), possible_(right.size()) {
    substitute(of, reciprocals(of.diagonal), right, serial_);
    for (index row = 0; row < of.rows(); ++row) {
        const auto columns = of.columns_of(row);
        const auto values = of.values_of(row);
        double sum = 2 * roundings(std::size_t(row)) * sums_of(of, row, right, serial_).magnitude;
        for (std::size_t k = 0; k < columns.size(); ++k)
            sum += std::abs(values[k]) * possible_[std::size_t(columns[k])];
        possible_[std::size_t(row)] = sum / std::abs(of.diagonal[std::size_t(row)]);
    }
}

double verifier::roundings(std::size_t row) const {
    return 2 * double(of_.entries_of(index(row)) + ranks_ + 4) * std::numeric_limits<double>::epsilon();
}

verdict verifier::check(std::span<const double> x) const {
    verdict found;
    for (index row = 0; row < of_.rows(); ++row) {
        const auto at = std::size_t(row);
        const double off = std::abs(x[at] - serial_[at]);
        const row_sums sums = sums_of(of_, row, right_, x);
        const double residual = std::abs(sums.residual);
        found.combine({off, share(off, possible_[at]), share(residual, sums.magnitude),
                       share(residual, roundings(at) * sums.magnitude)});
    }
    return found;
}

} // namespace sptrsv
