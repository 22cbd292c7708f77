// Points in space, and boxes around them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace barnes_hut {

using vector3 = std::array<double, 3>;

// A mass at a place.
struct point {
    vector3 at{};
    double mass = 0;
};

// Sides are parallel to the axes. Without a point it is empty.
struct box {
    vector3 low{std::numeric_limits<double>::max(), std::numeric_limits<double>::max(),
                std::numeric_limits<double>::max()};
    vector3 high{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::lowest(),
                 std::numeric_limits<double>::lowest()};

    void include(const vector3 &p) {
        for (std::size_t k = 0; k < 3; ++k) {
            low[k] = std::min(low[k], p[k]);
            high[k] = std::max(high[k], p[k]);
        }
    }
    // The square of the distance; 0 within the box.
    double distance_squared(const vector3 &p) const {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double d = std::max({low[k] - p[k], 0.0, p[k] - high[k]});
            sum += d * d;
        }
        return sum;
    }
    // That of the farthest place of the box.
    double farthest_squared(const vector3 &p) const {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double d = std::max(p[k] - low[k], high[k] - p[k]);
            sum += d * d;
        }
        return sum;
    }
};

// What the tree divides: it contains all bodies of all ranks.
struct cube {
    vector3 low{};
    double side = 1;
};

} // namespace barnes_hut
