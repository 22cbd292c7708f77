// The tree of Barnes and Hut: J. Barnes, P. Hut, "A hierarchical O(N log N) force-calculation algorithm",
// Nature 324 (1986). Each cell is a cube with the mass and the center of mass of the points in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "body.hpp"
#include "geometry.hpp"

namespace barnes_hut {

// Its children are consecutive, and so are all its descendants: from the first child on. A leaf has none. The
// points in it are consecutive, too. A plain value, which other ranks may read.
struct cell {
    point all;       // the mass, at its center
    double side = 0; // of the cube
    std::uint32_t first_child = 0, children = 0, descendants = 0;
    std::uint32_t first_point = 0, points = 0;
    std::uint32_t unused = 0;
};

inline constexpr std::uint32_t most_in_leaf = 8;

// Cell 0 is the root, if there is a point.
struct tree {
    std::vector<cell> cells;
    std::vector<point> points; // along a Morton curve
};

// The points lie in the cube. `order`, if given, becomes their numbers, in the tree's order. A cell with a
// single child is left out.
tree make_tree(const std::vector<point> &points, const cube &around,
               std::vector<std::uint32_t> *order = nullptr);

// Where a point lies on the Morton curve through the cube, of 2^21 steps in each direction.
std::uint64_t morton_key(const vector3 &at, const cube &around);

// Bodies in the order of a tree.
std::vector<body> in_order(const std::vector<body> &bodies, const std::vector<std::uint32_t> &order);

} // namespace barnes_hut
