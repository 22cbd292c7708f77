// The checks that all programs share: against the serial solve, and by the residual.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "triangle.hpp"

namespace sptrsv {

// How far results may be off is what rounding can do (N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, sections 3.1 and 8.2): componentwise, with n_i operations in row i and unit roundoff u,
// |b - L x| <= n_i u |L| |x|; and from there |x - exact| <= e where M e = n_i u |L| |x|, and M has the
// absolute diagonal and the negative absolute other entries.
struct verdict {
    double difference = 0;       // the largest absolute one from the serial solution
    double difference_share = 0; // the largest of what is possible by rounding
    double residual = 0;         // the largest |b - L x| relative to |L| |x|
    double residual_share = 0;   // the largest of what is possible by rounding

    // False for what is no number, too.
    bool right() const { return difference_share <= 1 && residual_share <= 1; }
    // Of several solves.
    void combine(const verdict &other);
    // What is wrong.
    std::string text() const;
};

class verifier {
  public:
    // `ranks`: a row may be added in so many parts.
    verifier(const triangle &of, std::span<const double> right, int ranks);

    verdict check(std::span<const double> x) const;
    std::span<const double> serial_solution() const { return serial_; }

  private:
    double roundings(std::size_t row) const; // n_i u, generously

    const triangle &of_;
    std::span<const double> right_;
    int ranks_;
    std::vector<double> serial_;
    std::vector<double> possible_; // difference from the serial solution
};

} // namespace sptrsv
