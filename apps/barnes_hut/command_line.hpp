// The command line of the programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/support/version.hpp"
#include "walk.hpp"

namespace barnes_hut {

struct command_line {
    std::uint64_t bodies = 0;
    int steps = 4;
    double time_step = 0.025;
    force_settings force;
    std::uint64_t seed = 1;
    int sample = 64;         // bodies whose force is checked
    std::string bodies_file; // empty: none is written
    unsigned line = 4096;    // bodies of a cell that is fetched as a whole
    std::uint64_t cache = 0; // MiB; 0: without a bound
    unsigned workers = 0;    // 0: the runtime's choice
};

// The exit status if the program is not to run: 2 after an error, which is reported on standard error; 0
// after --help. Programs with tasks have some more options.
std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of, command_line &into);

} // namespace barnes_hut
