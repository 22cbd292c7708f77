// A rank's part of the graph: its vertices with their neighbors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edge.hpp"
#include "partition.hpp"

namespace bfs {

class graph {
  public:
    // `arcs`: from own vertices to their neighbors, each edge once for each of its ends, without loops.
    // `tuples`: for each own vertex, how many edges of the list begin there, loops included.
    graph(const partition &among, std::span<const edge> arcs, std::vector<std::uint32_t> tuples);

    const partition &among() const { return among_; }
    std::span<const vertex> neighbors(std::size_t local) const {
        return std::span(neighbors_).subspan(row_start_[local], row_start_[local + 1] - row_start_[local]);
    }
    std::uint32_t tuples(std::size_t local) const { return tuples_[local]; }

  private:
    partition among_;
    std::vector<std::size_t> row_start_;
    std::vector<vertex> neighbors_;
    std::vector<std::uint32_t> tuples_;
};

} // namespace bfs
