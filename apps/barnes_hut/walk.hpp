// The walk through a tree for a group of bodies that lie together: a cell that is small as seen from the
// nearest place of the group acts as one mass; others are opened.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attraction.hpp"
#include "body.hpp"
#include "tree.hpp"

namespace barnes_hut {

struct force_settings {
    double angle = 0.5;      // opening angle: a cell acts as one mass if side < angle * distance
    double softening = 0.05; // a length
    unsigned group = 32;     // bodies of a group, at most
};

class viewer {
  public:
    viewer(const box &from, double angle) : from_(from), angle_squared_(angle * angle) {}
    bool is_small(const cell &seen) const {
        return seen.side * seen.side < angle_squared_ * from_.distance_squared(seen.all.at);
    }

  private:
    box from_;
    double angle_squared_;
};

// A group: bodies of a tree that are consecutive.
struct group {
    std::uint32_t first, count;
};

// Cells with few enough bodies, and parts of leaves if there are fewer in a group.
inline void add_groups(const tree &of, const cell &in, unsigned most, std::vector<group> &to) {
    if (in.points > most && in.children != 0) {
        for (std::uint32_t k = 0; k < in.children; ++k)
            add_groups(of, of.cells[in.first_child + k], most, to);
        return;
    }
    for (std::uint32_t done = 0; done < in.points; done += most)
        to.push_back({in.first_point + done, std::min(most, in.points - done)});
}
inline std::vector<group> groups_of(const tree &of, unsigned most) {
    std::vector<group> all;
    if (!of.cells.empty())
        add_groups(of, of.cells[0], most, all);
    return all;
}
inline box box_of(std::span<const body> bodies) {
    box around;
    for (const body &each : bodies)
        around.include(each.here.at);
    return around;
}

// `Part` gives access to a cell's descendants and points:
//   const cell &child(const cell &of, std::uint32_t k);
//   std::span<const point> points(const cell &leaf);
// Calls act(mass) for each that acts.
template <class Part, class Act> void walk(Part &part, const viewer &from, const cell &at, const Act &act) {
    if (from.is_small(at)) {
        act(at.all);
    } else if (at.children == 0) {
        for (const point &each : part.points(at))
            act(each);
    } else {
        for (std::uint32_t k = 0; k < at.children; ++k)
            walk(part, from, part.child(at, k), act);
    }
}

// A tree of this rank.
class own_part {
  public:
    explicit own_part(const tree &whole) : whole_(whole) {}
    const cell &child(const cell &of, std::uint32_t k) const { return whole_.cells[of.first_child + k]; }
    std::span<const point> points(const cell &leaf) const {
        return std::span(whole_.points).subspan(leaf.first_point, leaf.points);
    }

  private:
    const tree &whole_;
};

template <class Act> void walk(const tree &whole, const viewer &from, const Act &act) {
    if (whole.cells.empty())
        return;
    own_part part(whole);
    walk(part, from, whole.cells[0], act);
}

} // namespace barnes_hut
