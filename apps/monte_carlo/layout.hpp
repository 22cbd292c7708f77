// Which ranks have the tables, and which have the particles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/support/failure.hpp"
#include "particle.hpp"

namespace monte_carlo {

class layout {
  public:
    // `servers` ranks, the last ones, have tables alone, and the others particles; 0: all ranks have both.
    // Throws a failure that says how to start more ranks if there is none for the particles.
    layout(int ranks, int servers, const std::string &starter) : ranks_(ranks), servers_(servers) {
        if (servers >= ranks)
            throw apps::failure(
                std::to_string(servers) + " of " + std::to_string(ranks) +
                " ranks are servers, and none is left to track particles; start more, with '" + starter +
                " -n " + std::to_string(servers + 1) + "' at least");
    }

    int owner(unsigned band) const {
        return servers_ == 0 ? int(band) % ranks_ : ranks_ - servers_ + int(band) % servers_;
    }
    // In order.
    std::vector<unsigned> bands_of(int rank, const problem &of) const {
        std::vector<unsigned> own;
        for (unsigned band = 0; band < of.bands; ++band)
            if (owner(band) == rank)
                own.push_back(band);
        return own;
    }

    int trackers() const { return ranks_ - servers_; }
    bool has_particles(int rank) const { return rank < trackers(); }
    // The number of a rank's first particle. That of the rank behind the last tracker is their total.
    std::uint64_t first_particle(int rank, const problem &of) const {
        const auto to = std::uint64_t(trackers()), here = std::uint64_t(rank);
        return of.particles / to * here + of.particles % to * here / to;
    }
    std::vector<particle> particles_of(int rank, const problem &of) const {
        std::vector<particle> own;
        if (has_particles(rank))
            for (std::uint64_t i = first_particle(rank, of); i < first_particle(rank + 1, of); ++i)
                own.push_back(born_particle(of, i));
        return own;
    }

  private:
    int ranks_, servers_;
};

} // namespace monte_carlo
