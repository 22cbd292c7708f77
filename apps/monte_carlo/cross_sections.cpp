#include "cross_sections.hpp"

#include <cmath>

#include "apps/support/random.hpp"

namespace monte_carlo {
namespace {

constexpr double masses[] = {1, 12, 16, 27, 56, 91, 235, 238};
constexpr double light = 16; // these have no resonances
constexpr double scattering = 0.5, hydrogen_scattering = 2;
constexpr double thermal_absorption = 0.2; // at a lethargy of
const double thermal_lethargy = lethargy_of(0.0253);

struct resonance {
    double at, width, peak; // lethargies, and absorption in its middle
};

std::vector<resonance> resonances_of(const problem &of, unsigned nuclide) {
    std::vector<resonance> all;
    apps::random_stream random(~of.seed, nuclide);
    for (int i = 0; i < 8 && mass_of(nuclide) > light; ++i) {
        const double at = 4 + 13 * random.uniform(); // 370 keV to 0.8 eV
        const double width = 0.001 + 0.009 * random.uniform();
        all.push_back({at, width, 2 + 10 * random.uniform()});
    }
    return all;
}

cross_section cross_section_at(double lethargy, unsigned nuclide, const std::vector<resonance> &resonances) {
    // sqrt(thermal energy / energy)
    double absorbed = thermal_absorption * std::exp((lethargy - thermal_lethargy) / 2);
    for (const resonance &each : resonances) {
        const double away = (lethargy - each.at) / each.width;
        absorbed += each.peak / (1 + away * away);
    }
    return {absorbed + (mass_of(nuclide) == 1 ? hydrogen_scattering : scattering), absorbed};
}

} // namespace

double mass_of(unsigned nuclide) { return masses[nuclide % std::size(masses)]; }

std::vector<cross_section> make_table(const problem &of, unsigned band) {
    std::vector<cross_section> table(table_size(of));
    for (unsigned k = 0; k < of.nuclides; ++k) {
        const auto resonances = resonances_of(of, k);
        for (unsigned point = 0; point <= of.points; ++point) {
            const std::uint64_t row = std::uint64_t(band) * of.points + point; // of all bands
            const double lethargy = most_lethargy * double(row) / (double(of.points) * of.bands);
            cross_section here = cross_section_at(lethargy, k, resonances);
            here.total /= of.nuclides; // equal parts of the mixture
            here.absorbed /= of.nuclides;
            table[std::size_t(point) * of.nuclides + k] = here;
        }
    }
    return table;
}

band_table::rows band_table::at(double lethargy) const {
    const double begin = most_lethargy * band_ / of_.bands, length = most_lethargy / of_.bands;
    const unsigned point = interval_of(lethargy - begin, length, of_.points);
    const cross_section *const low = &table_[std::size_t(point) * of_.nuclides];
    return {low, low + of_.nuclides, (lethargy - begin) / length * of_.points - point};
}

} // namespace monte_carlo
