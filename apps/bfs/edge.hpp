// Vertices and edges, as Graph500 numbers them.
#pragma once

#include <cstdint>

#include "apps/support/failure.hpp"

namespace bfs {

using vertex = std::int64_t;
inline constexpr vertex no_vertex = -1; // the parent of a vertex outside the tree

// An undirected edge; a loop if both ends are the same.
struct edge {
    vertex from, to;
    bool operator==(const edge &) const = default;
};

using apps::failure;

} // namespace bfs
