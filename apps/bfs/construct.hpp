// Kernel 1 of Graph500: makes the graph of an edge list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exchange.hpp"
#include "graph.hpp"

namespace bfs {

// Each rank passes its part of the list. Collective.
template <class Ranks> graph construct(Ranks &ranks, std::span<const edge> list) {
    vertex highest = 0; // the kernel is not given the number of vertices
    for (const edge &each : list)
        highest = std::max({highest, each.from, each.to});
    const partition among(ranks.rank(), ranks.size(), ranks.largest(highest) + 1);
    std::vector<std::uint32_t> tuples(among.own_vertices(), 0);
    std::vector<edge> arcs;
    const auto owner = [&](const edge &e) { return among.owner(e.from); };
    in_batches(ranks, list, [&](std::span<const edge> part) {
        for (const edge &each : deliver<edge>(ranks, {part.begin(), part.end()}, owner)) {
            ++tuples[among.local(each.from)];
            if (each.from != each.to)
                arcs.push_back(each);
        }
        std::vector<edge> reversed;
        for (const edge &each : part)
            if (each.from != each.to)
                reversed.push_back({each.to, each.from});
        const std::vector<edge> more = deliver<edge>(ranks, reversed, owner);
        arcs.insert(arcs.end(), more.begin(), more.end());
    });
    return graph(among, arcs, std::move(tuples));
}

} // namespace bfs
