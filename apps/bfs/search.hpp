// Kernel 2 of Graph500: breadth-first search, level by level. The ranks exchange vertices as their versions
// please: a `Ranks` also has
//   void expand(const graph &g, tree &into, const frontier &at, std::vector<std::size_t> &next)
//       claims the neighbors of the frontier's vertices, on all ranks, and adds to `next` the own vertices
//       that were claimed. Collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "tree.hpp"

namespace bfs {

// A vertex that was reached, for the rank that owns it.
struct update {
    vertex child, parent;
};
// The most that one message carries. A shorter message is the last one of its level and stream, so a stream
// sends at least one message a level.
inline constexpr std::size_t updates_in_message = 256;

// The own vertices of the last level.
struct frontier {
    std::span<const std::size_t> vertices; // local numbers
    std::int32_t next_level;
};

// Adds to `next` the children that are claimed.
inline void claim_all(std::span<const update> updates, const partition &among, tree &into, std::int32_t level,
                      std::vector<std::size_t> &next) {
    for (const update &each : updates)
        if (const std::size_t local = among.local(each.child); into.claim(local, each.parent, level))
            next.push_back(local);
}

// Claims own neighbors of the vertices, and passes the others on: send(owner, update).
template <class Send>
void scan(const graph &g, tree &into, const frontier &part, std::vector<std::size_t> &next,
          const Send &send) {
    const partition &among = g.among();
    for (const std::size_t local : part.vertices) {
        const vertex parent = among.global(local);
        for (const vertex child : g.neighbors(local)) {
            const update reached{child, parent};
            if (const int owner = among.owner(child); owner != among.rank())
                send(owner, reached);
            else
                claim_all({&reached, 1}, among, into, part.next_level, next);
        }
    }
}

// Collective.
template <class Ranks> tree search(Ranks &ranks, const graph &g, vertex root) {
    const partition &among = g.among();
    tree found(among.own_vertices());
    std::vector<std::size_t> current, next;
    if (among.is_own(root) && found.claim(among.local(root), root, 0))
        current.push_back(among.local(root));
    for (std::int32_t level = 1; ranks.sum(std::int64_t(current.size())) != 0; ++level) {
        next.clear();
        ranks.expand(g, found, {current, level}, next);
        std::swap(current, next);
    }
    return found;
}

// The number of edges in the list whose ends the search has reached, loops and repeated edges included.
// Collective.
template <class Ranks> std::int64_t edges_reached(Ranks &ranks, const graph &g, const tree &found) {
    std::int64_t own = 0;
    for (std::size_t local = 0; local < found.parents.size(); ++local)
        if (found.parents[local] != no_vertex)
            own += g.tuples(local);
    return ranks.sum(own);
}

} // namespace bfs
