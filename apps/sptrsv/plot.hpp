// A picture of how parallel a system is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sptrsv {

// Draws the number of rows of each level as SVG, on a logarithmic axis. Readable on a light and on a dark
// background. Throws a failure that names the file.
void plot_levels(const std::string &path, const std::string &title, const std::vector<std::int64_t> &sizes);

} // namespace sptrsv
