// The frame of the programs: they differ in their `Ranks`, which has
//   static constexpr apps::version version;
//   int rank() const; int size() const;
//   void barrier();
//   std::int64_t sum(std::int64_t mine);                     of all ranks
//   void prepare(const linear_system &, const command_line &)
//   void forget();                                           before each solve
//   void solve();                                            returns when this rank's part is done
//   std::vector<double> collect();                           the whole solution, on rank 0
//   std::int64_t tasks() const; std::int64_t messages() const;   of this rank in a solve; messages: sent
// All ranks make the same calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/support/progress_line.hpp"
#include "apps/support/run_program.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "levels.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "system.hpp"
#include "verify.hpp"

namespace sptrsv {

// Seconds of a solve, which all ranks begin and end together.
template <class Ranks> double timed_solve(Ranks &ranks) {
    using clock = std::chrono::steady_clock;
    ranks.forget();
    ranks.barrier();
    const auto begin = clock::now();
    ranks.solve();
    ranks.barrier();
    return std::chrono::duration<double>(clock::now() - begin).count();
}

// Rank 0 checks each solution. One that is equal to the solution checked last, to the last bit, is as right:
// the matrix is not read again, which would change what the caches have when the next solve begins.
template <class Ranks> void solve_all(Ranks &ranks, const linear_system &given, int solves, outcome &into) {
    const apps::progress_line progress(apps::program_name("sptrsv", Ranks::version), ranks.rank() == 0);
    std::optional<verifier> checks;
    std::vector<double> checked;
    if (ranks.rank() == 0)
        checks.emplace(given.matrix, given.right, ranks.size());
    for (int k = 0; k < solves; ++k) {
        progress.show("solve " + std::to_string(k + 1) + " of " + std::to_string(solves) + " of " +
                      std::to_string(into.rows) + " rows");
        into.seconds.push_back(timed_solve(ranks));
        std::vector<double> x = ranks.collect();
        if (checks && x != checked) {
            into.checked.combine(checks->check(x));
            checked = std::move(x);
        }
    }
}

// Returns the exit status, on all ranks the same one. Rank 0 reports.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    const bool reports = ranks.rank() == 0;
    command_line here = wanted;
    if (!reports)
        here.written_file.clear();
    const linear_system given = make_system(here);
    outcome found;
    found.system = given.name;
    found.rows = given.matrix.rows();
    found.entries = given.matrix.entries();
    ranks.prepare(given, wanted);
    solve_all(ranks, given, wanted.solves, found);
    found.tasks = ranks.sum(ranks.tasks());
    found.messages = ranks.sum(ranks.messages());
    if (reports) {
        found.levels = level_sizes(row_levels(given.matrix));
        if (!wanted.plot_file.empty())
            plot_levels(wanted.plot_file, given.name, found.levels);
        print_report(stdout, Ranks::version, ranks.size(), found);
        std::fflush(stdout);
        if (!found.checked.right())
            std::fprintf(stderr, "%s: the solution is wrong: %s\n",
                         apps::program_name("sptrsv", Ranks::version).c_str(), found.checked.text().c_str());
    }
    return ranks.sum(reports && !found.checked.right()) == 0 ? 0 : 1;
}

// `start` brings up the ranks, and calls run.
template <class Start> int program_main(int argc, char **argv, apps::version of, const Start &start) {
    const auto read = [&](command_line &wanted) { return read_command_line(argc, argv, of, wanted); };
    return apps::run_program<command_line>(
        apps::program_name("sptrsv", of), read, [&](const command_line &wanted) {
            try {
                return start(wanted);
            } catch (const std::bad_alloc &) {
                throw failure("not enough memory for the system; choose a smaller one");
            }
        });
}

} // namespace sptrsv
