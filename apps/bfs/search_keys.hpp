// The roots of the searches: random vertices that have neighbors.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "apps/support/random.hpp"
#include "exchange.hpp"
#include "graph.hpp"
#include "permutation.hpp"

namespace bfs {

// Up to `count` different ones, the same on all ranks; fewer if the graph has no more. Collective.
template <class Ranks>
std::vector<vertex> search_keys(Ranks &ranks, const graph &g, int count, std::uint64_t seed) {
    constexpr vertex batch = 1024;
    const partition &among = g.among();
    const int bits = int(std::bit_width(std::uint64_t(among.vertices() - 1)));
    const permutation candidate(bits, apps::mixed(seed + 1));
    std::vector<vertex> keys;
    for (vertex first = 0; first < vertex{1} << bits; first += batch) {
        std::vector<vertex> drawn;
        for (vertex i = first; i < std::min(first + batch, vertex{1} << bits); ++i)
            if (const vertex v = candidate(i); among.contains(v))
                drawn.push_back(v);
        const auto degrees =
            ask_owners(ranks, among, drawn, [&](std::size_t local) { return g.neighbors(local).size(); });
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            if (degrees[i] != 0)
                keys.push_back(drawn[i]);
            if (keys.size() == std::size_t(count))
                return keys;
        }
    }
    return keys;
}

} // namespace bfs
