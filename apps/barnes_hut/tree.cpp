#include "tree.hpp"

#include <algorithm>
#include <utility>

namespace barnes_hut {
namespace {

constexpr int levels = 21; // bits of a coordinate in a key

// Two zero bits between any two of the lower 21.
std::uint64_t spread(std::uint64_t bits) {
    bits = (bits | bits << 32) & 0x001f00000000ffffU;
    bits = (bits | bits << 16) & 0x001f0000ff0000ffU;
    bits = (bits | bits << 8) & 0x100f00f00f00f00fU;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3U;
    return (bits | bits << 2) & 0x1249249249249249U;
}

struct sorted_point {
    std::uint64_t key;
    std::uint32_t index;
    friend bool operator<(const sorted_point &a, const sorted_point &b) {
        return std::pair(a.key, a.index) < std::pair(b.key, b.index);
    }
};

class builder {
  public:
    builder(const std::vector<sorted_point> &sorted, double side, tree &into)
        : sorted_(sorted), side_(side), into_(into) {}

    // Fills in a cell with the points of a range, which share their octants above the level.
    void fill(std::size_t index, std::uint32_t begin, std::uint32_t end, int level) {
        std::uint32_t bounds[9] = {begin, end};
        std::uint32_t parts = 1;
        while (level < levels && end - begin > most_in_leaf && parts == 1)
            parts = split(begin, end, level++, bounds);
        cell made;
        made.side = side_ / double(std::uint64_t{1} << (parts == 1 ? level : level - 1));
        made.first_point = begin;
        made.points = end - begin;
        if (parts == 1) {
            for (std::uint32_t i = begin; i < end; ++i)
                add(made.all, into_.points[i]);
        } else {
            made.first_child = std::uint32_t(into_.cells.size());
            made.children = parts;
            into_.cells.resize(into_.cells.size() + parts);
            for (std::uint32_t k = 0; k < parts; ++k) {
                fill(made.first_child + k, bounds[k], bounds[k + 1], level);
                add(made.all, into_.cells[made.first_child + k].all);
            }
            made.descendants = std::uint32_t(into_.cells.size()) - made.first_child;
        }
        for (double &each : made.all.at)
            each /= made.all.mass;
        into_.cells[index] = made;
    }

  private:
    // The bounds of the octants with points. Returns their number.
    std::uint32_t split(std::uint32_t begin, std::uint32_t end, int level, std::uint32_t *bounds) const {
        const int shift = 3 * (levels - 1 - level);
        const auto octant = [&](std::uint32_t i) { return sorted_[i].key >> shift; };
        std::uint32_t parts = 0;
        while (begin < end) {
            bounds[parts++] = begin;
            const auto first = sorted_.begin() + begin;
            begin = std::uint32_t(std::partition_point(first, sorted_.begin() + end,
                                                       [&, here = octant(begin)](const sorted_point &each) {
                                                           return each.key >> shift == here;
                                                       }) -
                                  sorted_.begin());
        }
        bounds[parts] = end;
        return parts;
    }
    // Moments, until they are divided by the mass.
    static void add(point &sum, const point &each) {
        for (std::size_t k = 0; k < 3; ++k)
            sum.at[k] += each.mass * each.at[k];
        sum.mass += each.mass;
    }

    const std::vector<sorted_point> &sorted_;
    double side_;
    tree &into_;
};

} // namespace

std::uint64_t morton_key(const vector3 &at, const cube &around) {
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const double place = (at[k] - around.low[k]) / around.side * double(1 << levels);
        const auto bits = std::uint64_t(std::clamp(place, 0.0, double((1 << levels) - 1)));
        key |= spread(bits) << (2 - k);
    }
    return key;
}

tree make_tree(const std::vector<point> &points, const cube &around, std::vector<std::uint32_t> *order) {
    std::vector<sorted_point> sorted;
    sorted.reserve(points.size());
    for (const point &each : points)
        sorted.push_back({morton_key(each.at, around), std::uint32_t(sorted.size())});
    std::sort(sorted.begin(), sorted.end());
    tree made;
    made.points.reserve(points.size());
    for (const sorted_point &each : sorted)
        made.points.push_back(points[each.index]);
    if (order) {
        order->clear();
        for (const sorted_point &each : sorted)
            order->push_back(each.index);
    }
    if (!points.empty()) {
        made.cells.reserve(points.size());
        made.cells.resize(1);
        builder(sorted, around.side, made).fill(0, 0, std::uint32_t(points.size()), 0);
    }
    return made;
}

std::vector<body> in_order(const std::vector<body> &bodies, const std::vector<std::uint32_t> &order) {
    std::vector<body> sorted;
    sorted.reserve(bodies.size());
    for (const std::uint32_t each : order)
        sorted.push_back(bodies[each]);
    return sorted;
}

} // namespace barnes_hut
