// The problem classes of NAS DT, and the checksums by which NAS verifies them.
#pragma once

#include <optional>

#include "graph.hpp"

namespace dt {

struct problem {
    char name;     // S, W, A or B
    int samples;   // of a stream, about
    int deviation; // by how many at most the number of samples differs
    int width;     // of the graph
};

// The class of that name; nothing if there is none.
std::optional<problem> find_problem(char name);

// The sum of the sinks' checksums according to NAS (NPB 3.3, DT/dt.c). All are whole numbers.
double verified_checksum(shape form, const problem &given);

} // namespace dt
