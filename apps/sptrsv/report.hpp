// What is reported of a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/support/version.hpp"
#include "verify.hpp"

namespace sptrsv {

struct outcome {
    std::string system;
    std::int64_t rows = 0, entries = 0;
    std::vector<std::int64_t> levels; // the number of rows of each
    std::int64_t tasks = 0;           // of all ranks in a solve; 0: there are none
    std::int64_t messages = 0;        // of all ranks in a solve
    std::vector<double> seconds;      // of each solve
    verdict checked;
};

void print_report(std::FILE *out, apps::version by, int ranks, const outcome &found);

} // namespace sptrsv
