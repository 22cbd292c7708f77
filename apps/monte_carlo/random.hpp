// Random numbers by position: that of an index in the stream of a particle depends on the seed, the
// particle's number and the index alone, so that it is the same wherever and whenever the particle is
// tracked.
#pragma once

#include <cstdint>

namespace monte_carlo {

// The output function of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
// generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

class stream {
  public:
    constexpr stream() = default;
    constexpr stream(std::uint64_t seed, std::uint64_t number) : key_(mixed(mixed(seed) + number)) {}

    // 0 <= result < 1
    constexpr double uniform() {
        ++drawn_;
        return double(mixed(key_ + drawn_ * 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53;
    }

  private:
    std::uint64_t key_ = 0, drawn_ = 0;
};

} // namespace monte_carlo
