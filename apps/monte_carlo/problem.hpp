// What is computed: neutrons in a slab of a mixture of nuclides, and how their energies are divided.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace monte_carlo {

struct problem {
    std::uint64_t particles = 0;
    std::uint64_t seed = 1;
    unsigned bands = 10;    // of energies, each with a table of its own
    unsigned points = 4096; // intervals of a table
    unsigned nuclides = 16;
    double thickness = 50; // of the slab, in cm
};

inline constexpr double highest_energy = 2e7, lowest_energy = 1e-4; // eV; energies outside are set to these

// The lethargy, ln(highest energy / energy), is what bands, tables and tallies divide evenly: it is 0 at the
// highest energy, and collisions raise it.
inline const double most_lethargy = std::log(highest_energy / lowest_energy);

inline double lethargy_of(double energy) {
    return std::clamp(std::log(highest_energy / energy), 0.0, most_lethargy); // of 0, too
}
inline double energy_at(double lethargy) { return highest_energy * std::exp(-lethargy); }

// The number of the interval, of `count` even ones that are `whole` long together.
inline unsigned interval_of(double value, double whole, unsigned count) {
    return std::min(unsigned(std::max(value, 0.0) / whole * count), count - 1);
}
// Band 0 has the highest energies.
inline unsigned band_of(double lethargy, const problem &of) {
    return interval_of(lethargy, most_lethargy, of.bands);
}

} // namespace monte_carlo
