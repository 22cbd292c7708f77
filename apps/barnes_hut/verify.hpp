// What is checked: the forces on a sample of the bodies against direct summation, and the energy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "body.hpp"

namespace barnes_hut {

inline constexpr double most_force_error = 0.01;    // root mean square, as a part of that of the forces
inline constexpr double most_energy_change = 0.002; // as a part of the energy

// Numbers of bodies, spread evenly.
inline std::vector<std::uint64_t> sample_of(std::uint64_t bodies, std::uint64_t size) {
    std::vector<std::uint64_t> chosen;
    size = std::min(size, bodies);
    for (std::uint64_t k = 0; k < size; ++k)
        chosen.push_back(k * (bodies / size) + k * (bodies % size) / size);
    return chosen;
}

struct force_errors {
    double mean = 0;  // root of the mean square, as a part of that of the forces
    double worst = 0; // of a body, as a part of the same
};

// The sample's accelerations as computed, beside those by direct summation.
inline force_errors compare(std::span<const vector3> found, std::span<const vector3> exact) {
    double errors = 0, forces = 0, worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        double error = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double d = found[i][k] - exact[i][k];
            error += d * d;
            forces += exact[i][k] * exact[i][k];
        }
        errors += error;
        worst = std::max(worst, error);
    }
    return {std::sqrt(errors / forces), std::sqrt(worst * double(found.size()) / forces)};
}

// The acceleration at a place by some bodies, one by one.
inline vector3 direct_sum(const vector3 &at, std::span<const body> bodies, double softening) {
    vector3 sum{};
    for (const body &each : bodies) {
        vector3 d{};
        double square = softening * softening;
        for (std::size_t k = 0; k < 3; ++k) {
            d[k] = each.here.at[k] - at[k];
            square += d[k] * d[k];
        }
        const double pull = each.here.mass / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k)
            sum[k] += pull * d[k];
    }
    return sum;
}

// All ranks together; each has its own bodies. `Ranks` is that of program.hpp.
template <class Ranks>
force_errors check_forces(Ranks &ranks, std::span<const body> own, const std::vector<std::uint64_t> &sample,
                          double softening) {
    std::vector<vector3> all(2 * sample.size()); // places, then accelerations; zero on all ranks but one
    for (const body &each : own) {
        const auto found = std::lower_bound(sample.begin(), sample.end(), each.number);
        if (found == sample.end() || *found != each.number)
            continue;
        const auto i = std::size_t(found - sample.begin());
        all[i] = each.here.at;
        all[sample.size() + i] = each.acceleration;
    }
    ranks.sum(std::span(all.data()->data(), 3 * all.size()));
    std::vector<vector3> exact;
    for (std::size_t i = 0; i < sample.size(); ++i)
        exact.push_back(direct_sum(all[i], own, softening));
    ranks.sum(std::span(exact.data()->data(), 3 * exact.size()));
    return compare(std::span(all).subspan(sample.size()), exact);
}

// Of all ranks' bodies, after their forces were computed.
template <class Ranks> double energy(Ranks &ranks, std::span<const body> own) {
    double sum = 0;
    for (const body &each : own) {
        double square = 0;
        for (const double v : each.velocity)
            square += v * v;
        sum += each.here.mass * (square + each.potential) / 2;
    }
    ranks.sum(std::span(&sum, 1));
    return sum;
}

} // namespace barnes_hut
