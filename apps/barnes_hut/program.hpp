// The frame of the programs: they differ in what computes the forces. A `Ranks` has
//   static constexpr apps::version version;
//   int rank() const; int size() const;
//   void sum(std::span<double> values);      each becomes the sum of all ranks'
//   void largest(std::span<double> values);  each becomes the largest of all ranks'
//   effort attract(std::vector<body> &own, const cube &around, const force_settings &how);
//       computes accelerations and potentials of this rank's bodies by those of all ranks, which are within
//       the cube; may change their order
// All ranks make the same calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/support/progress_line.hpp"
#include "apps/support/run_program.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "plummer.hpp"
#include "report.hpp"
#include "tree.hpp"
#include "verify.hpp"

namespace barnes_hut {

using clock = std::chrono::steady_clock;
inline double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
}

inline cube cube_around(const vector3 &low, const vector3 &high) {
    cube made{low, 0};
    for (std::size_t k = 0; k < 3; ++k)
        made.side = std::max(made.side, high[k] - low[k]);
    if (made.side == 0)
        made.side = 1; // bodies in one place
    return made;
}

// With the bodies of all ranks.
template <class Ranks> cube cube_of(Ranks &ranks, std::span<const body> own) {
    const box mine = box_of(own);
    double sides[6] = {-mine.low[0], -mine.low[1], -mine.low[2], mine.high[0], mine.high[1], mine.high[2]};
    ranks.largest(sides);
    return cube_around({-sides[0], -sides[1], -sides[2]}, {sides[3], sides[4], sides[5]});
}

// This rank's part of all bodies: those of a piece of the Morton curve.
template <class Ranks> std::vector<body> part_of_bodies(const Ranks &ranks, const command_line &wanted) {
    std::vector<body> all;
    all.reserve(wanted.bodies);
    for (std::uint64_t i = 0; i < wanted.bodies; ++i)
        all.push_back(plummer_body(i, wanted.bodies, wanted.seed));
    const box around = box_of(all);
    const cube whole = cube_around(around.low, around.high);
    std::sort(all.begin(), all.end(), [&](const body &a, const body &b) {
        return std::pair(morton_key(a.here.at, whole), a.number) <
               std::pair(morton_key(b.here.at, whole), b.number);
    });
    const auto begin = [&](int rank) {
        return all.begin() +
               std::ptrdiff_t(wanted.bodies * std::uint64_t(rank) / std::uint64_t(ranks.size()));
    };
    return {begin(ranks.rank()), begin(ranks.rank() + 1)};
}

inline void kick(std::span<body> bodies, double time) {
    for (body &each : bodies)
        for (std::size_t k = 0; k < 3; ++k)
            each.velocity[k] += time * each.acceleration[k];
}
inline void drift(std::span<body> bodies, double time) {
    for (body &each : bodies)
        for (std::size_t k = 0; k < 3; ++k)
            each.here.at[k] += time * each.velocity[k];
}

template <class Ranks> effort update_forces(Ranks &ranks, std::vector<body> &own, const force_settings &how) {
    effort spent = ranks.attract(own, cube_of(ranks, own), how);
    ranks.sum(std::span(&spent.interactions, 1));
    return spent;
}

// Leapfrog: half a kick, a drift, half a kick.
template <class Ranks>
void step(Ranks &ranks, std::vector<body> &own, const command_line &wanted, outcome &into) {
    const auto begin = clock::now();
    kick(own, wanted.time_step / 2);
    drift(own, wanted.time_step);
    into.efforts.push_back(update_forces(ranks, own, wanted.force));
    kick(own, wanted.time_step / 2);
    into.seconds.push_back(seconds_since(begin)); // the sum has waited for all ranks
}

// The final places of all bodies, by their numbers.
template <class Ranks>
std::vector<vector3> places_of(Ranks &ranks, std::span<const body> own, std::uint64_t count) {
    std::vector<vector3> all(count);
    for (const body &each : own)
        all[each.number] = each.here.at;
    ranks.sum(std::span(all.data()->data(), 3 * all.size())); // zero on all ranks but one
    return all;
}

// Returns the exit status, on all ranks the same one. Rank 0 reports.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    const std::string name = apps::program_name("barnes_hut", Ranks::version);
    outcome found;
    std::vector<body> own;
    {
        const apps::progress_line progress(name, ranks.rank() == 0);
        progress.show("making the bodies");
        own = part_of_bodies(ranks, wanted);
        update_forces(ranks, own, wanted.force);
        found.first_energy = energy(ranks, own);
        for (int i = 1; i <= wanted.steps; ++i) {
            progress.show("step " + std::to_string(i) + " of " + std::to_string(wanted.steps));
            step(ranks, own, wanted, found);
        }
        found.last_energy = energy(ranks, own);
        progress.show("direct summation");
        found.errors = check_forces(ranks, own, sample_of(wanted.bodies, std::uint64_t(wanted.sample)),
                                    wanted.force.softening);
    }
    const std::string failure = wrong(found);
    std::vector<vector3> places;
    if (!wanted.bodies_file.empty())
        places = places_of(ranks, own, wanted.bodies);
    if (ranks.rank() == 0) {
        print_report(stdout, Ranks::version, ranks.size(), wanted, found);
        std::fflush(stdout);
        if (!failure.empty())
            std::fprintf(stderr, "%s: %s\n", name.c_str(), failure.c_str());
        if (!places.empty())
            write_bodies(wanted.bodies_file, places);
    }
    return failure.empty() ? 0 : 1;
}

// `start` brings up the ranks, and calls run.
template <class Start> int program_main(int argc, char **argv, apps::version of, const Start &start) {
    const auto read = [&](command_line &wanted) { return read_command_line(argc, argv, of, wanted); };
    return apps::run_program<command_line>(
        apps::program_name("barnes_hut", of), read, [&](const command_line &wanted) {
            try {
                return start(wanted);
            } catch (const std::bad_alloc &) {
                throw std::runtime_error("not enough memory for " + std::to_string(wanted.bodies) +
                                         " bodies; choose fewer");
            }
        });
}

} // namespace barnes_hut
