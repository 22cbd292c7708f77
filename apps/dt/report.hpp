// The report of a run, with the fields of NAS's.
#pragma once

#include <cstdio>

#include "apps/support/version.hpp"
#include "problem.hpp"

namespace dt {

struct outcome {
    double checksum; // of all sinks
    double seconds;
};

// Equal to NAS's checksum, within NAS's tolerance.
bool verified(shape form, const problem &given, const outcome &found);

// The last line is for scripts: "result:", and words NAME=VALUE.
void print_report(std::FILE *out, apps::version by, int ranks, shape form, const problem &given,
                  const graph &of, const outcome &found);

} // namespace dt
