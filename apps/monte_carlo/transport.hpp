// The flights and collisions of a particle.
#pragma once

#include "cross_sections.hpp"
#include "particle.hpp"
#include "tally.hpp"

namespace monte_carlo {

// Until the particle is absorbed, has left the slab, or has an energy of another band.
void track_in_band(particle &each, const band_table &in, tally &into);

// A collision that does not absorb, with a nuclide of that mass. Above 0.4 eV elastic, with a nucleus at
// rest; below, the energy becomes one of thermal equilibrium, which may be higher. All directions are alike.
void scatter(particle &each, double mass);

} // namespace monte_carlo
