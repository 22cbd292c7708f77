// The Laplacian of a grid: its lower triangle, with the points in some order.
#pragma once

#include <cstdint>
#include <vector>

#include "triangle.hpp"

namespace sptrsv {

// The neighbors of a point: those along the axes (5-point and 7-point stencil), or all around it (9 and 27).
enum class stencil { star, box };

// The numbers of the points: along x, then y, then z; or by nested dissection (A. George, "Nested dissection
// of a regular finite element mesh", 1973): a grid is split by a plane into two, whose points come first,
// each half in the same way, and those of the plane last.
enum class order { natural, dissected };

struct grid {
    index nx = 1, ny = 1, nz = 1; // points
    stencil around = stencil::star;
    order numbers = order::natural;
};

// The number of each point, in natural order.
std::vector<index> point_numbers(const grid &of);

// -1 for each neighbor; the diagonal is the number of neighbors of a point inside the grid. Throws a failure
// if there are too many points.
triangle laplacian(const grid &of);

} // namespace sptrsv
