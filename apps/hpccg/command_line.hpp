// What the user asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grid.hpp"
#include "solver.hpp"

namespace hpccg {

struct command_line {
    std::optional<grid> points; // this,
    std::string matrix_file;    // or this
    unsigned workers = 0;       // 0: not said
    int iterations = usual_iterations;
    std::string residuals_file; // empty: none is written
    std::string written_file;   // the system, in the format of matrix files
};

// The status to end with: 2 after an error, which is told on standard error; 0 after --help. Nothing where
// the program is to run. The serial program has one worker.
std::optional<int> read_command_line(int argc, const char *const *argv, bool several_workers,
                                     command_line &into);

} // namespace hpccg
