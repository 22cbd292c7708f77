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

template <class Ranks> outcome tracked(Ranks &ranks, const command_line &wanted) {
    const apps::progress_line progress(apps::program_name("monte_carlo", Ranks::version), ranks.rank() == 0);
    outcome all;
    std::array<std::uint64_t, 1> none{};
    ranks.sum(none); // all have their tables
    const auto begin = clock::now();
    all.spent = ranks.track(progress, all.found);
    ranks.sum(all.found.words());
    all.seconds = seconds_since(begin);
    if (wanted.check && ranks.rank() == 0) {
        progress.show("tracking all particles once more, in one thread");
        all.expected = track_histories(wanted.given, make_all_tables(wanted.given));
    }
    return all;
}

// Returns the exit status, on all ranks the same one. Rank 0 reports.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    const outcome all = tracked(ranks, wanted);
    const std::string failure = wrong(wanted.given, all);
    std::array<std::uint64_t, 1> failed{failure.empty() ? 0u : 1u};
    ranks.sum(failed); // the last call of all ranks: what follows may throw
    if (ranks.rank() == 0) {
        print_report(stdout, Ranks::version, ranks.size(), wanted, all);
        std::fflush(stdout);
        if (!failure.empty())
            std::fprintf(stderr, "%s: %s\n", apps::program_name("monte_carlo", Ranks::version).c_str(),
                         failure.c_str());
        if (!wanted.tallies_file.empty())
            write_tallies(wanted.tallies_file, wanted.given, all.found);
    }
    return failed[0] == 0 ? 0 : 1;
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
