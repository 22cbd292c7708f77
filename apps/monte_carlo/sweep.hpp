// The order of energy band memory servers: a rank retrieves band after band, and tracks its particles of
// each. Source: K. Felker, A. Siegel, K. Smith, P. Romano, B. Forget, "The energy band memory server
// algorithm for parallel Monte Carlo transport calculations", SNA + MC 2013; algorithm 2 of PPL.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "particle.hpp"

namespace monte_carlo {

// Tracks the particles to their ends. `retrieve(band)` returns what `track(band, table, particles)` needs of
// the band: particles that have an energy of it, until each has ended or has an energy of another one.
// `show(sweep, band, flying)` is called before each. Particles whose energy has risen wait for the next
// sweep. Returns the number of sweeps.
template <class Retrieve, class Track, class Show>
unsigned sweep_bands(const problem &of, const std::vector<particle> &all, const Retrieve &retrieve,
                     const Track &track, const Show &show) {
    std::vector<std::vector<particle>> waiting(of.bands);
    for (const particle &each : all)
        waiting[band_of(each.lethargy, of)].push_back(each);
    unsigned sweeps = 0;
    for (std::size_t flying = all.size(); flying != 0; ++sweeps)
        for (unsigned band = 0; band < of.bands; ++band) {
            std::vector<particle> here = std::exchange(waiting[band], {});
            if (here.empty())
                continue;
            show(sweeps + 1, band, flying);
            {
                const auto &table = retrieve(band);
                track(band, table, std::span(here));
            }
            for (const particle &each : here) {
                if (each.state == fate::flying)
                    waiting[band_of(each.lethargy, of)].push_back(each);
                else
                    --flying;
            }
        }
    return sweeps;
}

} // namespace monte_carlo
