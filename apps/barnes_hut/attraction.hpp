// The attraction of bodies by point masses, softened: a mass m at distance r has the potential
// -m / sqrt(r^2 + softening^2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "body.hpp"

namespace barnes_hut {

// Before the first attraction of a body. The body itself will be among the masses that act on it: its pull is
// zero, its potential is not.
void begin_forces(std::span<body> bodies, double softening);

// Point masses that act on each body of a group. The bodies' sums are updated whenever the list is full, and
// at the end; the order of the masses decides on the last bits.
class attraction {
  public:
    attraction(std::span<body> group, double softening);
    attraction(const attraction &) = delete;
    attraction &operator=(const attraction &) = delete;

    void add(const point &each) {
        x_[count_] = each.at[0];
        y_[count_] = each.at[1];
        z_[count_] = each.at[2];
        mass_[count_] = each.mass;
        if (++count_ == most)
            apply();
    }
    // Afterwards all masses have acted. Returns how many masses have acted, for
    // all bodies together.
    std::uint64_t finish();

  private:
    static constexpr std::size_t most = 256; // fits into the cache of the processor

    void apply();

    const std::span<body> group_;
    const double softening_;
    std::size_t count_ = 0;
    std::uint64_t applied_ = 0;
    alignas(64) std::array<double, most> x_, y_, z_, mass_;
};

} // namespace barnes_hut
