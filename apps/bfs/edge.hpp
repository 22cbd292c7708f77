// Vertices and edges, as Graph500 numbers them.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace bfs {

using vertex = std::int64_t;
inline constexpr vertex no_vertex = -1; // the parent of a vertex outside the tree

// An undirected edge; a loop if both ends are the same.
struct edge {
    vertex from, to;
    bool operator==(const edge &) const = default;
};

// Ends the program with a message for its user.
class failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

} // namespace bfs
