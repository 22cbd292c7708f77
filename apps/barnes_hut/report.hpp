// The report of a run.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "verify.hpp"

namespace barnes_hut {

// What a computation of all forces has taken.
struct effort {
    double tree = 0, walk = 0;   // seconds; walk includes what a rank waits for
    double interactions = 0;     // of bodies with masses
    std::uint64_t transfers = 0; // lines fetched from other ranks, by programs with tasks
};

struct outcome {
    std::vector<double> seconds; // of each step
    std::vector<effort> efforts; // of each step, of this rank; interactions of all ranks
    double first_energy = 0, last_energy = 0;
    force_errors errors; // after the last step

    double energy_change() const;
    // The mean of the steps, without the first two if there are more.
    double seconds_a_step() const;
};

// Empty if forces and energy are right; else what is wrong, with a remedy.
std::string wrong(const outcome &found);

// The last line is for scripts: "result:", and words NAME=VALUE.
void print_report(std::FILE *out, apps::version of, int ranks, const command_line &wanted,
                  const outcome &found);

// A line for each body: its coordinates. Throws std::runtime_error, which names the file.
void write_bodies(const std::string &path, const std::vector<vector3> &places);

} // namespace barnes_hut
