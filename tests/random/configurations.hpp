// The runtimes that random programs run in.
#pragma once

#include <string>
#include <vector>

#include "program.hpp"

namespace random_programs {

struct configuration {
    fult::options options;
    unsigned most_tasks_at_a_time = 2000;
    unsigned refuse_maps = 0, refuse_threads = 0; // one in so many, to the runtime; 0: never
    std::string text;                             // what was chosen, for a reader
};

// Names for --config, each with what it means.
struct configuration_kind {
    const char *name;
    const char *meaning;
    void (*apply)(configuration &to);
};
const std::vector<configuration_kind> &configuration_kinds();

// `names`: "drawn", or names from above with commas between them. What they leave open is drawn.
// Throws std::invalid_argument that names what is unknown.
configuration configured(const std::string &names, draw random);

} // namespace random_programs
