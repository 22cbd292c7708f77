// The tables of cross sections, one a band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace monte_carlo {

// Of a nuclide in the mixture at an energy: events on a centimeter.
struct cross_section {
    double total = 0;    // collisions
    double absorbed = 0; // those that absorb
};

// The mass of a nuclide, as a multiple of a neutron's.
double mass_of(unsigned nuclide);

// The table of a band has a row at each end of an interval; a row has each nuclide.
inline std::size_t table_size(const problem &of) { return (std::size_t(of.points) + 1) * of.nuclides; }

// Made from the seed: each band can be made alone. Invented, with the features of nuclear data: scattering
// that hardly depends on energy, absorption by 1/velocity, and resonances of nuclides that are not light.
std::vector<cross_section> make_table(const problem &of, unsigned band);

// A band with its table, wherever that lies.
class band_table {
  public:
    band_table(const problem &of, unsigned band, std::span<const cross_section> table)
        : of_(of), band_(band), table_(table) {}

    const problem &of() const { return of_; }
    unsigned band() const { return band_; }

    // The rows around an energy of the band, with the weight of the second one.
    struct rows {
        const cross_section *low;
        const cross_section *high;
        double part;
        double total(unsigned k) const { return low[k].total + part * (high[k].total - low[k].total); }
        double absorbed(unsigned k) const {
            return low[k].absorbed + part * (high[k].absorbed - low[k].absorbed);
        }
    };
    rows at(double lethargy) const;

  private:
    const problem &of_;
    unsigned band_;
    std::span<const cross_section> table_;
};

} // namespace monte_carlo
