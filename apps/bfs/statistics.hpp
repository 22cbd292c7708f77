// The statistics of Graph500's report.
#pragma once

#include <vector>

namespace bfs {

// Quartiles are interpolated linearly between the values in order.
struct statistics {
    double minimum, first_quartile, median, third_quartile, maximum;
    double mean, deviation; // with n - 1; 0 for a single value
};

// Of at least one value.
statistics describe(std::vector<double> values);
// The same for positive rates: mean and deviation are harmonic (N. Norris, "The standard errors of the
// geometric and harmonic means", 1940).
statistics describe_rates(std::vector<double> rates);

} // namespace bfs
