// The frame of the programs: they differ in what runs the nodes, and in how streams travel. A `Ranks` has
//   static constexpr apps::version version;
//   int rank() const; int size() const;
//   void barrier();
//   double sum(double mine);                                   of all ranks, exact for whole numbers
//   double run_nodes(const problem &, const graph &, const Done &done);
//       the checksums of this rank's sinks; calls done() after each node, in tasks at the same time
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

#include "apps/support/progress_line.hpp"
#include "apps/support/run_program.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "report.hpp"

namespace dt {

// Runs all nodes.
template <class Ranks> outcome measure(Ranks &ranks, const problem &given, const graph &of) {
    using clock = std::chrono::steady_clock;
    const apps::progress_line progress(apps::program_name("dt", Ranks::version), ranks.rank() == 0);
    std::atomic<int> done{0};
    const auto show = [&] { // once before the first node, and after each
        progress.show("this rank has run " + std::to_string(done++) + " nodes, all ranks run " +
                      std::to_string(of.nodes().size()));
    };
    show();
    ranks.barrier();
    const auto begin = clock::now();
    const double checksum = ranks.sum(ranks.run_nodes(given, of, show));
    return {checksum, std::chrono::duration<double>(clock::now() - begin).count()};
}

// Returns the exit status, on all ranks the same one. Rank 0 reports.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    const graph of = make_graph(wanted.form, wanted.given.width);
    const outcome found = measure(ranks, wanted.given, of);
    const bool right = verified(wanted.form, wanted.given, found);
    if (ranks.rank() == 0) {
        print_report(stdout, Ranks::version, ranks.size(), wanted.form, wanted.given, of, found);
        std::fflush(stdout);
        if (!right)
            std::fprintf(stderr, "%s: the checksum is %.0f, but that of NAS is %.0f: the result is wrong\n",
                         apps::program_name("dt", Ranks::version).c_str(), found.checksum,
                         verified_checksum(wanted.form, wanted.given));
    }
    return right ? 0 : 1;
}

// `start` brings up the ranks, and calls run.
template <class Start> int program_main(int argc, char **argv, apps::version of, const Start &start) {
    const auto read = [&](command_line &wanted) { return read_command_line(argc, argv, of, wanted); };
    return apps::run_program<command_line>(apps::program_name("dt", of), read, start);
}

} // namespace dt
