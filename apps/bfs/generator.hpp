// The edge list of Graph500: a Kronecker graph with permuted vertices (Graph500 specification 2.0, section
// 3).
#pragma once

#include <cstdint>
#include <vector>

#include "edge.hpp"
#include "permutation.hpp"

namespace bfs {

// An edge depends on its index and the seed alone: the list is the same for any number of ranks, and each
// rank makes its own part. Edges are independent of each other, so the list has no locality that a shuffle
// would remove.
class generator {
  public:
    generator(int scale, int edgefactor, std::uint64_t seed);

    vertex vertices() const { return vertex{1} << scale_; }
    std::int64_t edges() const { return vertices() * edgefactor_; }
    edge at(std::int64_t index) const;
    // The same edge before the vertices are permuted.
    edge unpermuted(std::int64_t index) const;
    // Edges first ... last - 1.
    std::vector<edge> list(std::int64_t first, std::int64_t last) const;

  private:
    int scale_, edgefactor_;
    std::uint64_t key_;
    permutation label_;
};

} // namespace bfs
