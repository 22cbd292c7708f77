// The frame of the programs: they differ in their `Ranks` (exchange.hpp, search.hpp), which also says what it
// is:
//   static constexpr apps::version version
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/support/progress_line.hpp"
#include "apps/support/run_program.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "construct.hpp"
#include "generator.hpp"
#include "report.hpp"
#include "search.hpp"
#include "search_keys.hpp"
#include "validate.hpp"

namespace bfs {

// Seconds that the work takes, which all ranks begin together. The work ends with a collective operation.
template <class Ranks, class Work> double timed(Ranks &ranks, const Work &work) {
    using clock = std::chrono::steady_clock;
    ranks.sum(0);
    const auto begin = clock::now();
    work();
    return std::chrono::duration<double>(clock::now() - begin).count();
}

// This rank's part of the edge list.
template <class Ranks> std::vector<edge> part_of_list(const Ranks &ranks, const generator &whole) {
    const auto begin = [&](std::int64_t rank) {
        // without overflow for 2^50 edges
        return whole.edges() / ranks.size() * rank + std::min(rank, whole.edges() % ranks.size());
    };
    return whole.list(begin(ranks.rank()), begin(ranks.rank() + 1));
}

// Searches from the root, and checks the result.
template <class Ranks>
verdict search_once(Ranks &ranks, const command_line &wanted, std::span<const edge> list, const graph &g,
                    vertex root, measured &into) {
    tree found(0);
    into.seconds.push_back(timed(ranks, [&] { found = search(ranks, g, root); }));
    into.edges.push_back(double(edges_reached(ranks, g, found)));
    return wanted.validates ? validate(ranks, g.among(), list, found, root) : verdict{};
}

// Both kernels. Returns what is wrong, on all ranks the same; an empty text if all searches are right.
template <class Ranks> std::string measure(Ranks &ranks, const command_line &wanted, measured &into) {
    const apps::progress_line progress(apps::program_name("bfs", Ranks::version), ranks.rank() == 0);
    progress.show("making the edges");
    const std::vector<edge> list =
        part_of_list(ranks, generator(wanted.scale, wanted.edgefactor, wanted.seed));
    progress.show("constructing the graph");
    std::optional<graph> made;
    into.construction = timed(ranks, [&] {
        made.emplace(construct<Ranks>(ranks, list));
        ranks.sum(0);
    });
    const std::vector<vertex> keys = search_keys(ranks, *made, wanted.searches, wanted.seed);
    if (keys.empty())
        return "no vertex has a neighbor; choose a larger scale or another --seed";
    for (const vertex root : keys) {
        const std::string number = std::to_string(into.seconds.size() + 1);
        progress.show("search " + number + " of " + std::to_string(keys.size()));
        const verdict checked = search_once(ranks, wanted, std::span<const edge>(list), *made, root, into);
        if (!checked.right())
            return "the search from vertex " + std::to_string(root) + " is wrong: " + checked.text();
    }
    return {};
}

// Returns the exit status, on all ranks the same one. Rank 0 reports.
template <class Ranks> int run(Ranks &ranks, const command_line &wanted) {
    measured found;
    const std::string error = measure(ranks, wanted, found);
    if (ranks.rank() == 0) {
        if (error.empty())
            print_report(stdout, Ranks::version, ranks.size(), wanted, found);
        else
            std::fprintf(stderr, "%s: %s\n", apps::program_name("bfs", Ranks::version).c_str(),
                         error.c_str());
        std::fflush(stdout);
    }
    return error.empty() ? 0 : 1;
}

// `start` brings up the ranks, and calls run.
template <class Start> int program_main(int argc, char **argv, apps::version of, const Start &start) {
    const auto read = [&](command_line &wanted) { return read_command_line(argc, argv, of, wanted); };
    return apps::run_program<command_line>(
        apps::program_name("bfs", of), read, [&](const command_line &wanted) {
            try {
                return start(wanted);
            } catch (const std::bad_alloc &) {
                throw failure("not enough memory for scale " + std::to_string(wanted.scale) +
                              "; choose a smaller one, or bfs on more ranks");
            }
        });
}

} // namespace bfs
