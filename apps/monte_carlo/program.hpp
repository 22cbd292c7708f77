// The frame of the programs: they differ in what holds the tables and tracks the particles. A `Ranks` has
//   static constexpr apps::version version;
//   int rank() const; int size() const;
//   void sum(std::span<std::uint64_t> values);   each becomes the sum of all ranks'
//   effort track(const apps::progress_line &progress, tally &into);   this rank's particles, to their ends
// All ranks make the same calls.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <new>
#include <span>
#include <string>

#include "apps/support/failure.hpp"
#include "apps/support/progress_line.hpp"
#include "apps/support/run_program.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "histories.hpp"
#include "report.hpp"

namespace monte_carlo {

using clock = std::chrono::steady_clock;
inline double seconds_since(clock::time_point begin) {
    return std::chrono::duration<double>(clock::now() - begin).count();
}

inline void show_sweep(const apps::progress_line &progress, unsigned sweep, unsigned band,
                       std::size_t flying) {
    progress.show("sweep " + std::to_string(sweep) + ", band " + std::to_string(band) + ": " +
                  std::to_string(flying) + " particles fly");
}

// On all ranks, the tallies of all.
template <class Ranks> outcome tracked(Ranks &ranks, const apps::progress_line &progress) {
    outcome all;
    std::array<std::uint64_t, 1> none{};
    ranks.sum(none); // all have their tables
    const auto begin = clock::now();
    all.spent = ranks.track(progress, all.found);
    ranks.sum(all.found.words());
    all.seconds = seconds_since(begin);
    return all;
}

inline void report(apps::version of, int ranks, const command_line &wanted, const outcome &all) {
    print_report(stdout, of, ranks, wanted, all);
    std::fflush(stdout);
    if (const std::string failure = wrong(wanted.given, all); !failure.empty())
        std::fprintf(stderr, "%s: %s\n", apps::program_name("monte_carlo", of).c_str(), failure.c_str());
    if (!wanted.tallies_file.empty())
        write_tallies(wanted.tallies_file, wanted.given, all.found);
}

// Returns the exit status. Rank 0 alone compares the tallies and reports, which may throw: then the others
// wait for it in no call.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    outcome all;
    {
        const apps::progress_line progress(apps::program_name("monte_carlo", Ranks::version),
                                           ranks.rank() == 0);
        all = tracked(ranks, progress);
        if (wanted.check && ranks.rank() == 0) {
            progress.show("tracking all particles once more, in one thread");
            all.expected = track_histories(wanted.given, make_all_tables(wanted.given));
        }
    }
    if (ranks.rank() == 0)
        report(Ranks::version, ranks.size(), wanted, all);
    return wrong(wanted.given, all).empty() ? 0 : 1;
}

// `start` brings up the ranks, and calls run.
template <class Start> int program_main(int argc, char **argv, apps::version of, const Start &start) {
    const auto read = [&](command_line &wanted) { return read_command_line(argc, argv, of, wanted); };
    return apps::run_program<command_line>(
        apps::program_name("monte_carlo", of), read, [&](const command_line &wanted) {
            try {
                return start(wanted);
            } catch (const std::bad_alloc &) {
                throw apps::failure(
                    "not enough memory for the tables or the particles; choose fewer --points, "
                    "--nuclides or particles, or --no-check, which needs all tables on a rank");
            }
        });
}

} // namespace monte_carlo
