#include "plummer.hpp"

#include <cmath>
#include <numbers>

namespace barnes_hut {
namespace {

// splitmix64: the numbers of a body are a stream of their own.
class stream {
  public:
    stream(std::uint64_t seed, std::uint64_t number) : state_(mix(mix(seed) + number)) {}
    // 0 <= result < 1
    double uniform() {
        state_ += 0x9e3779b97f4a7c15U;
        return double(mix(state_) >> 11) * 0x1p-53;
    }

  private:
    static std::uint64_t mix(std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    std::uint64_t state_;
};

vector3 in_any_direction(double length, stream &random) {
    const double z = length * (1 - 2 * random.uniform());
    const double angle = 2 * std::numbers::pi * random.uniform();
    const double across = std::sqrt(length * length - z * z);
    return {across * std::cos(angle), across * std::sin(angle), z};
}

} // namespace

body plummer_body(std::uint64_t number, std::uint64_t count, std::uint64_t seed) {
    constexpr double scale = 3 * std::numbers::pi / 16;
    stream random(seed, number);
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
