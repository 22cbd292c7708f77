// The report of a run.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "tally.hpp"

namespace monte_carlo {

// What tracking has taken on a rank.
struct effort {
    double waiting = 0;          // seconds for tables, of sweeps
    unsigned sweeps = 0;         // over the bands; 0 without sweeps
    std::uint64_t transfers = 0; // tables fetched from other ranks
};

struct outcome {
    double seconds = 0; // from the birth of the first particle to the tallies of all ranks
    effort spent;       // of rank 0
    tally found;        // of all ranks
    std::optional<tally> expected;
};

// Empty if the tallies are right: the particles are conserved, both fluxes have the same sum, and the tallies
// are those expected, if these are known. Else what is wrong.
std::string wrong(const problem &of, const outcome &found);

// How particles and tables are divided; "one thread" has no scheme.
const char *scheme_of(apps::version by, const command_line &wanted);

// The last line is for scripts: "result:", and words NAME=VALUE.
void print_report(std::FILE *out, apps::version by, int ranks, const command_line &wanted,
                  const outcome &found);

// A line for each interval: "energy" and "depth", its begin and end in eV or cm, and the flux of a particle
// in a unit of lethargy or a cm. Throws a failure that names the file.
void write_tallies(const std::string &path, const problem &of, const tally &found);

} // namespace monte_carlo
