#include "generator.hpp"

#include "apps/support/random.hpp"

namespace bfs {
namespace {

// Probabilities of the four quarters of the adjacency matrix: A, B, C, and D for the rest.
constexpr double a = 0.57, b = 0.19, c = 0.19;

// A probability as a threshold for 32 random bits.
constexpr std::uint32_t threshold(double probability) { return std::uint32_t(probability * 4294967296.0); }
constexpr std::uint32_t upper = threshold(a + b);               // of the upper half
constexpr std::uint32_t left_if_upper = threshold(a / (a + b)); // of the left half, within the upper one
constexpr std::uint32_t left_if_lower = threshold(c / (1 - a - b));

} // namespace

generator::generator(int scale, int edgefactor, std::uint64_t seed)
    : scale_(scale), edgefactor_(edgefactor), key_(apps::mixed(seed)), label_(scale, apps::mixed(~seed)) {}

edge generator::unpermuted(std::int64_t index) const {
    const std::uint64_t own = apps::random_at(key_, std::uint64_t(index));
    vertex from = 0, to = 0;
    for (int level = 0; level < scale_; ++level) {
        const std::uint64_t bits = apps::random_at(own, std::uint64_t(level));
        const bool lower = std::uint32_t(bits >> 32) >= upper;
        const bool right = std::uint32_t(bits) >= (lower ? left_if_lower : left_if_upper);
        from |= vertex(lower) << level;
        to |= vertex(right) << level;
    }
    return {from, to};
}

edge generator::at(std::int64_t index) const {
    const edge made = unpermuted(index);
    return {label_(made.from), label_(made.to)};
}

std::vector<edge> generator::list(std::int64_t first, std::int64_t last) const {
    std::vector<edge> made;
    made.reserve(std::size_t(last - first));
    for (std::int64_t index = first; index < last; ++index)
        made.push_back(at(index));
    return made;
}

} // namespace bfs
