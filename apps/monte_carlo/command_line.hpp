// The command line of the programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/support/version.hpp"
#include "problem.hpp"

namespace monte_carlo {

enum class scheme {
    dedicated, // some ranks have the tables, the others sweep
    simple,    // each rank has a part of the tables, and sweeps
    prefetch   // the same, without sweeps: a task tracks a particle to its end, and gets tables as needed
};
const char *name_of(scheme which);

struct command_line {
    problem given;
    scheme how = scheme::prefetch;
    int servers = 1;         // of the dedicated scheme
    std::uint64_t cache = 0; // MiB; 0: without a bound
    unsigned in_flight = 4096;
    bool check = true;        // against histories in one thread
    std::string tallies_file; // empty: none is written
    unsigned workers = 0;     // 0: the runtime's choice
};

// The exit status if the program is not to run: 2 after an error, which is reported on standard error; 0
// after --help. Each version has options of its own.
std::optional<int> read_command_line(int argc, const char *const *argv, apps::version of, command_line &into);

} // namespace monte_carlo
