// The report of a run: the fields of the Graph500 specification for its kernels 1 and 2, and some more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "apps/support/version.hpp"
#include "command_line.hpp"

namespace bfs {

struct measured {
    double construction = 0;     // seconds
    std::vector<double> seconds; // of each search
    std::vector<double> edges;   // of the list, that each search reached
};

// The last line is for scripts: "result:", and words NAME=VALUE.
void print_report(std::FILE *out, apps::version of, int ranks, const command_line &wanted,
                  const measured &found);

} // namespace bfs
