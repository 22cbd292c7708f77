#include "triangle.hpp"

namespace sptrsv {

triangle reversed_transpose(const triangle &of) {
    const index rows = of.rows();
    const auto reversed = [rows](index row) { return std::size_t(rows - 1 - row); };
    triangle made;
    made.starts.resize(std::size_t(rows) + 1);
    made.columns.resize(of.columns.size());
    made.values.resize(of.values.size());
    made.diagonal.assign(of.diagonal.rbegin(), of.diagonal.rend());
    for (const index column : of.columns)
        ++made.starts[reversed(column) + 1];
    for (std::size_t row = 0; row < std::size_t(rows); ++row)
        made.starts[row + 1] += made.starts[row];
    std::vector<std::int64_t> next(made.starts.begin(), made.starts.end() - 1);
    for (index row = rows - 1; row >= 0; --row) { // so that columns ascend
        const auto columns = of.columns_of(row);
        const auto values = of.values_of(row);
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const auto at = std::size_t(next[reversed(columns[k])]++);
            made.columns[at] = index(reversed(row));
            made.values[at] = values[k];
        }
    }
    return made;
}

void substitute(const triangle &of, std::span<const double> inverse, std::span<const double> right,
                std::span<double> x) {
    std::size_t at = 0;
    for (std::size_t row = 0; row < x.size(); ++row) {
        double sum = right[row];
        for (const auto end = std::size_t(of.starts[row + 1]); at < end; ++at)
            sum -= of.values[at] * x[std::size_t(of.columns[at])];
        x[row] = sum * inverse[row];
    }
}

std::vector<double> reciprocals(std::span<const double> numbers) {
    std::vector<double> made;
    made.reserve(numbers.size());
    for (const double each : numbers)
        made.push_back(1 / each);
    return made;
}

std::vector<double> multiply(const triangle &by, std::span<const double> x) {
    std::vector<double> product(x.size());
    for (index row = 0; row < by.rows(); ++row) {
        const auto columns = by.columns_of(row);
        const auto values = by.values_of(row);
        double sum = by.diagonal[std::size_t(row)] * x[std::size_t(row)];
        for (std::size_t k = 0; k < columns.size(); ++k)
            sum += values[k] * x[std::size_t(columns[k])];
        product[std::size_t(row)] = sum;
    }
    return product;
}

} // namespace sptrsv
