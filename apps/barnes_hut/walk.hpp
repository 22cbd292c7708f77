// The walk through a tree for a group of bodies that lie together: a cell that is small as seen from the
// nearest place of the group acts as one mass; others are opened. Neighbouring groups, a block, make the part
// of the walk together that is the same for all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
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
    // From some place at least, if it is not small from all.
    bool may_be_small(const cell &seen) const {
        return seen.side * seen.side < angle_squared_ * from_.farthest_squared(seen.all.at);
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
// A block: groups that are consecutive, with the bodies of a cell. A larger group is a block of its own.
inline constexpr unsigned most_in_block = 512; // bodies, about

inline std::vector<std::span<const group>> blocks_of(const tree &of, const std::vector<group> &all) {
    std::vector<std::span<const group>> blocks;
    auto begin = all.begin();
    for (const group &cells : groups_of(of, most_in_block)) {
        const auto end = std::find_if(begin, all.end(), [end = cells.first + cells.count](const group &each) {
            return each.first >= end;
        });
        if (begin != end) // else they are in the group before
            blocks.emplace_back(begin, end);
        begin = end;
    }
    return blocks;
}
inline std::span<body> bodies_of(std::vector<body> &all, const group &in) {
    return std::span(all).subspan(in.first, in.count);
}
inline std::span<body> bodies_of(std::vector<body> &all, std::span<const group> block) {
    const std::uint32_t first = block.front().first, end = block.back().first + block.back().count;
    return std::span(all).subspan(first, end - first);
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

// Parts of trees as a block sees them: the cells where the walks of its groups begin to differ.
template <class Part> class outlook {
  public:
    // Calls act(mass) for each mass in the cell that acts on all groups of the block.
    template <class Act> void survey(Part part, const viewer &block, const cell &top, const Act &act) {
        const std::size_t before = near_.size();
        parts_.push_back(std::move(part));
        look_at(block, top, act);
        if (near_.size() == before)
            parts_.pop_back();
    }
    // The rest of the walk for a group.
    template <class Act> void walk(const viewer &group, const Act &act) {
        for (const near_cell &each : near_)
            barnes_hut::walk(parts_[each.part], group, each.at, act);
    }

  private:
    struct near_cell {
        cell at;
        std::size_t part;
    };

    template <class Act> void look_at(const viewer &block, const cell &at, const Act &act) {
        if (block.is_small(at)) {
            act(at.all);
        } else if (block.may_be_small(at)) {
            near_.push_back({at, parts_.size() - 1});
        } else if (at.children == 0) {
            for (const point &each : parts_.back().points(at))
                act(each);
        } else {
            for (std::uint32_t k = 0; k < at.children; ++k)
                look_at(block, parts_.back().child(at, k), act);
        }
    }

    std::vector<Part> parts_;
    std::vector<near_cell> near_;
};

template <class Act> outlook<own_part> survey(const tree &whole, const viewer &block, const Act &act) {
    outlook<own_part> made;
    if (!whole.cells.empty())
        made.survey(own_part(whole), block, whole.cells[0], act);
    return made;
}

} // namespace barnes_hut
