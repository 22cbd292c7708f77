#include "graph.hpp"

#include <utility>

namespace bfs {

graph::graph(const partition &among, std::span<const edge> arcs, std::vector<std::uint32_t> tuples)
    : among_(among),
      row_start_(among.own_vertices() + 1, 0),
      neighbors_(arcs.size()),
      tuples_(std::move(tuples)) {
    for (const edge &each : arcs)
        ++row_start_[among.local(each.from) + 1];
    for (std::size_t i = 1; i < row_start_.size(); ++i)
        row_start_[i] += row_start_[i - 1];
    std::vector<std::size_t> next(row_start_.begin(), row_start_.end() - 1);
    for (const edge &each : arcs)
        neighbors_[next[among.local(each.from)]++] = each.to;
}

} // namespace bfs
