#include "transport.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace monte_carlo {
namespace {

constexpr double fission_temperature = 1.29e6, thermal_temperature = 0.0253; // eV
const double thermal_from = lethargy_of(0.4);

// 0 < result <= 1, for logarithms
double positive(apps::random_stream &random) { return 1 - random.uniform(); }

double any_direction(apps::random_stream &random) { return 2 * random.uniform() - 1; }

// To the face of the slab that the particle flies to, in cm.
double way_out(const particle &of, double thickness) {
    if (of.direction > 0)
        return (thickness - of.depth) / of.direction;
    return of.direction < 0 ? of.depth / -of.direction : std::numeric_limits<double>::infinity();
}

double total_of(const band_table::rows &here, unsigned nuclides) {
    double sum = 0;
    for (unsigned k = 0; k < nuclides; ++k)
        sum += here.total(k);
    return sum;
}

void collide(particle &each, const band_table::rows &here, unsigned nuclides, double total, tally &into) {
    ++into[tally::collisions];
    double rest = each.random.uniform() * total;
    unsigned k = 0;
    while (k + 1 < nuclides && (rest -= here.total(k)) >= 0)
        ++k;
    if (each.random.uniform() * here.total(k) >= here.absorbed(k))
        return scatter(each, mass_of(k));
    each.state = fate::absorbed;
    ++into[tally::absorbed];
}

void fly_and_collide(particle &each, const band_table &in, tally &into) {
    const problem &of = in.of();
    const band_table::rows here = in.at(each.lethargy);
    const double total = total_of(here, of.nuclides);
    const double flight = -std::log(positive(each.random)) / total;
    const double out = way_out(each, of.thickness);
    into.add_flight(each, std::min(flight, out), of.thickness);
    if (flight >= out) {
        each.state = fate::leaked;
        ++into[each.direction > 0 ? tally::leaked_back : tally::leaked_front];
        return;
    }
    each.depth = std::clamp(each.depth + each.direction * flight, 0.0, of.thickness);
    collide(each, here, of.nuclides, total, into);
}

} // namespace

particle born_particle(const problem &of, std::uint64_t number) {
    particle made;
    made.random = apps::random_stream(of.seed, number);
    made.depth = of.thickness * made.random.uniform();
    made.direction = any_direction(made.random);
    const double first = std::log(positive(made.random)), second = std::log(positive(made.random));
    const double cosine = std::cos(std::numbers::pi / 2 * made.random.uniform());
    made.lethargy = lethargy_of(-fission_temperature * (first + second * cosine * cosine));
    return made;
}

void scatter(particle &each, double mass) {
    if (each.lethargy > thermal_from) {
        const double both = positive(each.random) * positive(each.random);
        each.lethargy = lethargy_of(-thermal_temperature * std::log(both));
    } else {
        const double ratio = (mass - 1) / (mass + 1), least = ratio * ratio;
        each.lethargy -= std::log(least + (1 - least) * positive(each.random));
        each.lethargy = std::min(each.lethargy, most_lethargy);
    }
    each.direction = any_direction(each.random);
}

void track_in_band(particle &each, const band_table &in, tally &into) {
    while (each.state == fate::flying && band_of(each.lethargy, in.of()) == in.band())
        fly_and_collide(each, in, into);
}

} // namespace monte_carlo
