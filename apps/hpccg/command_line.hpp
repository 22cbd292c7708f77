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
    bool help = false;
};

// Throws a failure that says what is wrong, and with what word.
command_line read_command_line(int argc, const char *const *argv);

std::string help_text(const std::string &program, bool several_workers);

} // namespace hpccg
