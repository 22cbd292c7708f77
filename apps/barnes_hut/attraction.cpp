#include "attraction.hpp"

#include <cmath>

namespace barnes_hut {

void begin_forces(std::span<body> bodies, double softening) {
    for (body &each : bodies) {
        each.acceleration = {};
        each.potential = each.here.mass / softening;
    }
}

attraction::attraction(std::span<body> group, double softening) : group_(group), softening_(softening) {}

void attraction::apply() {
    applied_ += count_ * group_.size();
    const double square = softening_ * softening_;
    for (body &each : group_) {
        const double bx = each.here.at[0], by = each.here.at[1], bz = each.here.at[2];
        double ax = 0, ay = 0, az = 0, potential = 0;
#pragma omp simd reduction(+ : ax, ay, az, potential)
        for (std::size_t i = 0; i < count_; ++i) {
            const double dx = x_[i] - bx, dy = y_[i] - by, dz = z_[i] - bz;
            const double near = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + square);
            const double depth = mass_[i] * near;
            const double pull = depth * near * near;
            potential -= depth;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        each.acceleration[0] += ax;
        each.acceleration[1] += ay;
        each.acceleration[2] += az;
        each.potential += potential;
    }
    count_ = 0;
}

std::uint64_t attraction::finish() {
    apply();
    return applied_;
}

} // namespace barnes_hut
