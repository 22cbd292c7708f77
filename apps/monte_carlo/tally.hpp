// What is counted: the flux by energy and by depth, and the fates of particles. All numbers are whole: sums
// are the same in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "particle.hpp"

namespace monte_carlo {

class tally {
  public:
    static constexpr unsigned groups = 120, slices = 50; // even ones, of the lethargy and of the depth
    static constexpr double units = 0x1p20;              // of the flux in a cm that particles fly

    enum count { born, absorbed, leaked_front, leaked_back, collisions };

    tally() : words_(groups + slices + collisions + 1) {}

    std::uint64_t &operator[](count of) { return words_[groups + slices + of]; }
    std::uint64_t operator[](count of) const { return words_[groups + slices + of]; }
    std::uint64_t of_group(unsigned group) const { return words_[group]; }
    std::uint64_t of_slice(unsigned slice) const { return words_[groups + slice]; }
    std::uint64_t of_all_groups() const;
    std::uint64_t of_all_slices() const; // the same, unless something is wrong

    // The flight of a particle from where it is; both fluxes get the same units, to the last one. `length` in
    // cm, within a slab of that thickness.
    void add_flight(const particle &of, double length, double thickness);

    std::span<std::uint64_t> words() { return words_; }
    tally &operator+=(const tally &other);
    bool operator==(const tally &other) const = default;

    std::uint64_t checksum() const;

  private:
    std::vector<std::uint64_t> words_; // the flux by groups and by slices, then the counts
};

} // namespace monte_carlo
