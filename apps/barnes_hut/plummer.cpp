#include "plummer.hpp"

#include <cmath>
#include <numbers>

#include "apps/support/random.hpp"

namespace barnes_hut {
namespace {

vector3 in_any_direction(double length, apps::random_stream &random) {
    const double z = length * (1 - 2 * random.uniform());
    const double angle = 2 * std::numbers::pi * random.uniform();
    const double across = std::sqrt(length * length - z * z);
    return {across * std::cos(angle), across * std::sin(angle), z};
}

} // namespace

body plummer_body(std::uint64_t number, std::uint64_t count, std::uint64_t seed) {
    constexpr double scale = 3 * std::numbers::pi / 16;
    apps::random_stream random(seed, number);
    // The part of the mass within the radius is uniform; 0 has no radius.
    const double inside = 0.999 * (1 - random.uniform());
    const double radius = 1 / std::sqrt(std::pow(inside, -2.0 / 3) - 1);
    body made;
    made.number = number;
    made.here = {in_any_direction(scale * radius, random), 1 / double(count)};
    // The speed as a part q of the escape speed: its density is q^2 (1 - q^2)^(7/2), which is below 0.1.
    double q = 0, density = 0;
    do {
        q = random.uniform();
        density = q * q * std::pow(1 - q * q, 3.5);
    } while (0.1 * random.uniform() > density);
    const double escape = std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
    made.velocity = in_any_direction(q * escape / std::sqrt(scale), random);
    return made;
}

} // namespace barnes_hut
