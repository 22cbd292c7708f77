// Bodies. Units: the constant of gravitation and the mass of all bodies are 1.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry.hpp"

namespace barnes_hut {

struct body {
    point here;
    vector3 velocity{};
    vector3 acceleration{};
    double potential = 0;     // of the others, for a unit of mass
    std::uint64_t number = 0; // from 0 on, the same in all programs
};

inline std::vector<point> points_of(const std::vector<body> &bodies) {
    std::vector<point> all;
    all.reserve(bodies.size());
    for (const body &each : bodies)
        all.push_back(each.here);
    return all;
}

} // namespace barnes_hut
