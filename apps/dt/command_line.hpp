// The command line of the programs.
#pragma once

#include <optional>

#include "apps/support/version.hpp"
#include "problem.hpp"

namespace dt {

struct command_line {
    shape form = shape::black_hole;
    problem given{};
    unsigned workers = 0; // 0: the runtime's choice
};

// The exit status if the program is not to run: 2 after an error, which is reported on standard error; 0
// after --help. Nodes that are tasks may have several workers.
std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of, command_line &into);

} // namespace dt
