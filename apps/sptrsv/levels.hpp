// How parallel a triangular system is: the level of a row is one more than the highest of those that it
// depends on, so the rows of a level are independent of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "triangle.hpp"

namespace sptrsv {

// The level of each row, from 0 on.
std::vector<index> row_levels(const triangle &of);

// The number of rows of each level.
std::vector<std::int64_t> level_sizes(const std::vector<index> &levels);

} // namespace sptrsv
