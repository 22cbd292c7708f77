// Options that several applications have.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "tools/command_line.hpp"

namespace apps {

// 0, the default, is the runtime's choice.
inline void add_workers_option(fult::tools::command_line &line, unsigned &into) {
    line.add_option("--workers", into, "kernel threads of a rank; else one per processor")
        ->type_name("N")
        ->transform(fult::tools::whole_number(1, 1024));
}

inline void add_seed_option(fult::tools::command_line &line, std::uint64_t &into,
                            const std::string &what_depends) {
    line.add_option("--seed", into, what_depends)
        ->type_name("N")
        ->transform(fult::tools::whole_number<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str();
}

// In MiB.
inline void add_cache_option(fult::tools::command_line &line, std::uint64_t &into,
                             const std::string &contents) {
    line.add_option("--cache", into, "MiB of a rank's cache of other ranks' " + contents + "; 0: no bound")
        ->type_name("N")
        ->transform(fult::tools::whole_number<std::uint64_t>(0, 1'000'000))
        ->capture_default_str();
}

} // namespace apps
