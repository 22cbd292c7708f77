// A neutron on its way.
#pragma once

#include <cstdint>

#include "apps/support/random.hpp"
#include "problem.hpp"

namespace monte_carlo {

enum class fate : std::uint8_t { flying, absorbed, leaked };

struct particle {
    double depth = 0;     // from the front of the slab, in cm
    double direction = 0; // cosine of the angle to the depth
    double lethargy = 0;
    apps::random_stream random;
    fate state = fate::flying;
};

// By number, from 0 on. Anywhere in the slab and in any direction, with an energy of fission: a Maxwell
// spectrum.
particle born_particle(const problem &of, std::uint64_t number);

} // namespace monte_carlo
