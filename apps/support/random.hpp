// Pseudo-random numbers by position: each is computed from a key and an index alone, so any rank can compute
// any of them, whenever it needs it.
#pragma once

#include <cstdint>

namespace apps {

// A bijection of 64-bit words whose output looks random: the output function of SplitMix64 (G. L. Steele, D.
// Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
    return word ^ (word >> 31);
}

// The number of that index in the sequence that belongs to the key.
constexpr std::uint64_t random_at(std::uint64_t key, std::uint64_t index) {
    return mixed(key + (index + 1) * 0x9e3779b97f4a7c15u);
}

// The sequence of one object, such as a particle, by the seed and its number.
class random_stream {
  public:
    constexpr random_stream() = default;
    constexpr random_stream(std::uint64_t seed, std::uint64_t number) : key_(mixed(mixed(seed) + number)) {}

    // 0 <= result < 1
    constexpr double uniform() { return double(random_at(key_, drawn_++) >> 11) * 0x1p-53; }

  private:
    std::uint64_t key_ = 0, drawn_ = 0;
};

} // namespace apps
