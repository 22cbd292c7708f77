// The arithmetic of blocks, for any way of scheduling them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stripe.hpp"

namespace sptrsv {

// The vectors of a rank. Each block reads and writes elements of its own, so blocks of which none requires
// the other may be computed at the same time.
class block_solver {
  public:
    // `right` is that of the whole system; its own part is copied.
    block_solver(const stripe &of, std::span<const double> right, int ranks, int rank);

    // Before each solve: what has been computed is forgotten.
    void forget();

    // Solves for the rows of an own block.
    void solve(std::size_t block);
    // Computes what the rank adds to the rows of another rank's section: the numbers, which remain in place.
    std::span<const double> contribute(std::size_t block);
    // Where a contribution that arrives is to be copied to.
    std::span<double> place_of(const contribution &arriving);

    // The solution of the rank's columns, in their order.
    std::vector<double> solution() const;

  private:
    // The sum of products of a row.
    double minus_products(double sum, std::size_t row) const {
        for (auto at = std::size_t(of_.starts[row]); at < std::size_t(of_.starts[row + 1]); ++at)
            sum -= of_.values[at] * x_[std::size_t(of_.columns[at])];
        return sum;
    }

    const stripe &of_;
    int rank_;
    std::vector<double> x_, right_; // at each position
    // Of each source, for each own row; empty if it contributes nothing. Its numbers are kept apart
    // from the others', which are subtracted in their order: results do not depend on what arrives first.
    std::vector<std::vector<double>> arrived_;
    std::vector<double> given_;             // contributions of all blocks that do not solve
    std::vector<std::size_t> given_starts_; // of each block
};

} // namespace sptrsv
