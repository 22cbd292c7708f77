#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bfs {
namespace {

double quantile(const std::vector<double> &sorted, double part) {
    const double position = part * double(sorted.size() - 1);
    const auto below = std::size_t(position);
    if (below + 1 == sorted.size())
        return sorted.back();
    return sorted[below] + (position - double(below)) * (sorted[below + 1] - sorted[below]);
}

double mean(const std::vector<double> &values) {
    double sum = 0;
    for (const double each : values)
        sum += each;
    return sum / double(values.size());
}

// The sum of the squared differences from a number.
double squares(const std::vector<double> &values, double from) {
    double sum = 0;
    for (const double each : values)
        sum += (each - from) * (each - from);
    return sum;
}

} // namespace

statistics describe(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const double middle = mean(values), others = double(values.size() - 1);
    const double deviation = others == 0 ? 0 : std::sqrt(squares(values, middle) / others);
    return {values.front(),
            quantile(values, 0.25),
            quantile(values, 0.5),
            quantile(values, 0.75),
            values.back(),
            middle,
            deviation};
}

statistics describe_rates(std::vector<double> rates) {
    statistics found = describe(rates);
    for (double &each : rates)
        each = 1 / each;
    const double inverse = mean(rates), others = double(rates.size() - 1);
    found.mean = 1 / inverse;
    found.deviation = others == 0 ? 0 : std::sqrt(squares(rates, inverse)) / others * found.mean * found.mean;
    return found;
}

} // namespace bfs
