// Which rank owns a vertex, and where it keeps it.
#pragma once

#include <cstddef>

#include "edge.hpp"

namespace bfs {

// Vertices are dealt to the ranks in turn. Their numbers are random, so each rank gets much the same.
class partition {
  public:
    partition(int rank, int ranks, vertex vertices) : rank_(rank), ranks_(ranks), vertices_(vertices) {}

    int rank() const { return rank_; }
    int ranks() const { return ranks_; }
    vertex vertices() const { return vertices_; }

    int owner(vertex v) const { return int(v % ranks_); }
    bool is_own(vertex v) const { return owner(v) == rank_; }
    bool contains(vertex v) const { return v >= 0 && v < vertices_; }
    // Own vertices are 0 ... own_vertices() - 1 locally.
    std::size_t local(vertex v) const { return std::size_t(v / ranks_); }
    vertex global(std::size_t local) const { return vertex(local) * ranks_ + rank_; }
    std::size_t own_vertices() const { return std::size_t((vertices_ - rank_ + ranks_ - 1) / ranks_); }

  private:
    int rank_, ranks_;
    vertex vertices_;
};

} // namespace bfs
