// The forces of a rank's bodies group by group, and the tree of its own bodies.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attraction.hpp"
#include "tree.hpp"
#include "walk.hpp"

namespace barnes_hut {

// Puts the bodies into the tree's order.
inline tree tree_of(std::vector<body> &bodies, const cube &around) {
    std::vector<std::uint32_t> order;
    tree made = make_tree(points_of(bodies), around, &order);
    bodies = in_order(bodies, order);
    return made;
}

// The bodies of a group attracted by several trees. `walk_others(view, act)` walks through those that are not
// `own`. Returns the interactions.
template <class WalkOthers>
std::uint64_t attract_group(std::span<body> bodies, const tree &own, const force_settings &how,
                            const WalkOthers &walk_others) {
    const viewer view(box_of(bodies), how.angle);
    attraction all(bodies, how.softening);
    const auto act = [&all](const point &each) { all.add(each); };
    walk(own, view, act); // first: tasks have something to do while cells of others are under way
    walk_others(view, act);
    return all.finish();
}

inline std::span<body> bodies_of(std::vector<body> &all, const group &in) {
    return std::span(all).subspan(in.first, in.count);
}

} // namespace barnes_hut
