#include "block_solver.hpp"

#include <algorithm>
#include <limits>

namespace sptrsv {

block_solver::block_solver(const stripe &of, std::span<const double> right, int ranks, int rank)
    : of_(of), rank_(rank), x_(of.own_rows()), arrived_(std::size_t(ranks)) {
    for (std::size_t k = 0; k < x_.size(); ++k)
        right_.push_back(right[std::size_t(of.rows[k])]);
    for (const contribution &each : of.contributions)
        arrived_[std::size_t(each.source)].resize(x_.size());
    std::size_t size = 0;
    for (std::size_t k = 0; k < of.blocks.size(); ++k) {
        given_starts_.push_back(size);
        if (!of.solves(k)) {
            const contribution made = of.given_by(k, rank);
            size += std::size_t(made.last - made.first);
        }
    }
    given_.resize(size);
}

void block_solver::forget() {
    // A number that is used before it is computed shows in the result.
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::fill(x_.begin(), x_.end(), unknown);
    for (const contribution &each : of_.contributions)
        std::ranges::fill(place_of(each), unknown);
}

void block_solver::solve(std::size_t block) {
    const std::size_t first = of_.blocks[block].first, last = of_.blocks[block].last;
    const std::span<const contribution> from = of_.contributions_to(block);
    if (from.empty()) {
        for (std::size_t row = first; row < last; ++row)
            x_[row] = minus_products(right_[row], row) * of_.inverse[row];
        return;
    }
    std::copy(right_.begin() + std::ptrdiff_t(first), right_.begin() + std::ptrdiff_t(last),
              x_.begin() + std::ptrdiff_t(first));
    for (const contribution &each : from) {
        const index *position = of_.positions.data() + (each.first - of_.first);
        for (const double number : place_of(each))
            x_[std::size_t(*position++)] -= number;
    }
    for (std::size_t row = first; row < last; ++row)
        x_[row] = minus_products(x_[row], row) * of_.inverse[row];
}

std::vector<double> block_solver::solution() const {
    std::vector<double> all(x_.size());
    for (std::size_t k = 0; k < all.size(); ++k)
        all[std::size_t(of_.rows[k] - of_.first)] = x_[k];
    return all;
}

std::span<const double> block_solver::contribute(std::size_t block) {
    const contribution made = of_.given_by(block, rank_);
    const std::span<double> into(given_.data() + given_starts_[block], std::size_t(made.last - made.first));
    std::ranges::fill(into, 0.0);
    for (std::size_t row = of_.blocks[block].first; row < of_.blocks[block].last; ++row)
        into[std::size_t(of_.rows[row] - made.first)] = -minus_products(0, row);
    return into;
}

std::span<double> block_solver::place_of(const contribution &arriving) {
    return {arrived_[std::size_t(arriving.source)].data() + (arriving.first - of_.first),
            std::size_t(arriving.last - arriving.first)};
}

} // namespace sptrsv
