// The command line of the programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/support/version.hpp"
#include "grid.hpp"

namespace sptrsv {

enum class factor { triangle, ic0 };

struct command_line {
    std::optional<grid> points; // this,
    std::string matrix_file;    // or this
    factor made = factor::ic0;
    bool backward = false;
    std::int64_t entries_in_section = 512;
    std::int64_t entries_in_task = 8192;
    int solves = 10;
    unsigned workers = 0;     // 0: the runtime's choice
    std::string plot_file;    // empty: none is drawn
    std::string written_file; // the triangle, as a Matrix Market file
};

// The exit status if the program is not to run: 2 after an error, which is reported on standard error; 0
// after --help. The version with tasks alone has workers and sections.
std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of, command_line &into);

} // namespace sptrsv
