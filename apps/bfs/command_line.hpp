// The command line of the programs.
#pragma once

#include <cstdint>
#include <optional>

#include "apps/support/version.hpp"

namespace bfs {

struct command_line {
    int scale = 0;
    int edgefactor = 16;
    int searches = 64;
    std::uint64_t seed = 1;
    bool validates = true;
    int searchers = 16;   // tasks of a rank
    unsigned workers = 0; // 0: the runtime's choice
};

// The exit status if the program is not to run: 2 after an error, which is reported on standard error; 0
// after --help. Ranks that search by tasks may have several workers and searchers.
std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of, command_line &into);

} // namespace bfs
