// A small random number generator for the choice of victims.
#pragma once

#include <cstdint>

namespace fult::detail {

// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
class random_source {
  public:
    explicit random_source(std::uint64_t seed) noexcept : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

    // Uniform enough in [0, bound), by multiplication in place of a division.
    std::uint32_t below(std::uint32_t bound) noexcept {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        const auto high = static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1du) >> 32);
        return static_cast<std::uint32_t>((std::uint64_t{high} * bound) >> 32);
    }

  private:
    std::uint64_t state_;
};

} // namespace fult::detail
