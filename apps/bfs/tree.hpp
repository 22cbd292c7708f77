// What a search finds: of each own vertex its parent and its level.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "edge.hpp"

namespace bfs {

class tree {
  public:
    explicit tree(std::size_t own_vertices) : parents(own_vertices, no_vertex), levels(own_vertices, -1) {}

    // Gives the vertex a parent and a level unless it has them; true if it did. The first caller of several
    // concurrent ones wins; the vertices' entries may be read after these have been joined.
    bool claim(std::size_t local, vertex parent, std::int32_t level) {
        std::atomic_ref<vertex> entry(parents[local]);
        vertex expected = entry.load(std::memory_order_relaxed);
        if (expected != no_vertex ||
            !entry.compare_exchange_strong(expected, parent, std::memory_order_relaxed))
            return false;
        levels[local] = level;
        return true;
    }

    std::vector<vertex> parents;      // no_vertex outside the tree; the root is its own
    std::vector<std::int32_t> levels; // -1 outside the tree; the root's is 0
};

} // namespace bfs
