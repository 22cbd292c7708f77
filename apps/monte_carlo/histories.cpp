#include "histories.hpp"

#include "transport.hpp"

namespace monte_carlo {

all_tables make_all_tables(const problem &of) {
    all_tables all;
    for (unsigned band = 0; band < of.bands; ++band)
        all.push_back(make_table(of, band));
    return all;
}

tally track_histories(const problem &of, const all_tables &tables) {
    tally all;
    for (std::uint64_t number = 0; number < of.particles; ++number) {
        particle each = born_particle(of, number);
        ++all[tally::born];
        while (each.state == fate::flying) {
            const unsigned band = band_of(each.lethargy, of);
            track_in_band(each, band_table(of, band, tables[band]), all);
        }
    }
    return all;
}

} // namespace monte_carlo
