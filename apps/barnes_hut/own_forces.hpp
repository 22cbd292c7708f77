// The forces of a rank's bodies block by block, and the tree of its own bodies.
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

// The bodies of a block attracted by several trees. `survey_others(view, act)` surveys those that are not
// `own`, and returns their outlook. Returns the interactions.
template <class SurveyOthers>
std::uint64_t attract_block(std::vector<body> &bodies, std::span<const group> block, const tree &own,
                            const force_settings &how, const SurveyOthers &survey_others) {
    const std::span<body> all = bodies_of(bodies, block);
    begin_forces(all, how.softening);
    attraction of_all(all, how.softening);
    const viewer view_of_all(box_of(all), how.angle);
    const auto act_on_all = [&of_all](const point &each) { of_all.add(each); };
    auto here = survey(own, view_of_all, act_on_all);
    auto there = survey_others(view_of_all, act_on_all);
    std::uint64_t interactions = of_all.finish();
    for (const group &each : block) {
        const std::span<body> some = bodies_of(bodies, each);
        attraction of_group(some, how.softening);
        const viewer view(box_of(some), how.angle);
        const auto act = [&of_group](const point &mass) { of_group.add(mass); };
        here.walk(view, act);
        there.walk(view, act);
        interactions += of_group.finish();
    }
    return interactions;
}

} // namespace barnes_hut
