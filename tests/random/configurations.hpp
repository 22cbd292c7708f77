// The runtimes that random programs run in.
#pragma once

#include <string>
#include <vector>

#include "program.hpp"

namespace random_programs {

struct configuration {
    fult::options options;
    unsigned most_tasks_at_a_time = 2000;
    unsigned refuse_maps = 0, refuse_threads = 0, refuse_guards = 0; // one in so many; 0: never
    std::string text;                                                // what was chosen, for a reader
};

// Names for --config, each with what it means.
struct configuration_kind {
    const char *name;
    const char *meaning;
    void (*apply)(configuration &to, draw &random);
};
const std::vector<configuration_kind> &configuration_kinds();

// `names`: "drawn", or a comma-separated list of the names above. Options that they do not determine are
// drawn. Throws std::invalid_argument with the unknown name.
configuration configured(const std::string &names, draw random);

} // namespace random_programs
