// The Plummer model of a star cluster: S. Aarseth, M. Henon, R. Wielen, "A comparison of numerical methods
// for the study of star cluster dynamics", Astronomy and Astrophysics 37 (1974).
#pragma once

#include <cstdint>

#include "body.hpp"

namespace barnes_hut {

// A body of `count` equal ones, in the units in which the energy of the model is -1/4. It depends on its
// number and the seed alone. The outermost 0.1 % of the mass is left out, as it may be anywhere.
body plummer_body(std::uint64_t number, std::uint64_t count, std::uint64_t seed);

} // namespace barnes_hut
