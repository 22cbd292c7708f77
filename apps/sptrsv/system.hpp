// The system that the user wants.
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"
#include "triangle.hpp"

namespace sptrsv {

struct linear_system {
    std::string name;          // for people
    triangle matrix;           // lower triangular, for backward substitution too
    std::vector<double> right; // of a solution with numbers from 1 to 2
};

// Reads or generates it. Throws a failure.
linear_system make_system(const command_line &wanted);

} // namespace sptrsv
