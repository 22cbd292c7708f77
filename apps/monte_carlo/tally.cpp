#include "tally.hpp"

#include <algorithm>
#include <numeric>

#include "apps/support/random.hpp"

namespace monte_carlo {

std::uint64_t tally::of_all_groups() const {
    return std::accumulate(words_.begin(), words_.begin() + groups, std::uint64_t{0});
}
std::uint64_t tally::of_all_slices() const {
    return std::accumulate(words_.begin() + groups, words_.begin() + groups + slices, std::uint64_t{0});
}

void tally::add_flight(const particle &of, double length, double thickness) {
    const auto whole = std::uint64_t(length * units);
    words_[interval_of(of.lethargy, most_lethargy, groups)] += whole;
    // Ends of slices divide the flight. Units are counted from its begin, so that none is lost by rounding.
    unsigned slice = interval_of(of.depth, thickness, slices);
    const unsigned last = of.direction > 0 ? slices - 1 : 0;
    std::uint64_t before = 0;
    while (of.direction != 0 && slice != last) {
        const double end = thickness * (of.direction > 0 ? slice + 1 : slice) / slices;
        const auto here = std::uint64_t(std::clamp((end - of.depth) / of.direction, 0.0, length) * units);
        if (here >= whole)
            break;
        words_[groups + slice] += here - before;
        before = here;
        slice += of.direction > 0 ? 1 : -1;
    }
    words_[groups + slice] += whole - before;
}

tally &tally::operator+=(const tally &other) {
    for (std::size_t i = 0; i < words_.size(); ++i)
        words_[i] += other.words_[i];
    return *this;
}

std::uint64_t tally::checksum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : words_)
        sum = apps::random_at(sum + each, 0);
    return sum;
}

} // namespace monte_carlo
