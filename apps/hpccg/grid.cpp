#include "grid.hpp"

#include <limits>

namespace hpccg {
namespace {
std::string written(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    return std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz);
}

bool fits_columns(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    return nx <= most / ny && nx * ny <= most / nz;
}
} // namespace

grid::grid(std::int64_t nx, std::int64_t ny, std::int64_t nz) : x(nx), y(ny), z(nz) {
    if (nx < 1 || ny < 1 || nz < 1)
        throw failure("a grid of " + written(nx, ny, nz) + " is empty; give three whole numbers from 1 on");
    if (!fits_columns(nx, ny, nz))
        throw failure("a grid of " + written(nx, ny, nz) +
                      " has more than 2147483647 points, which 32-bit column numbers cannot name; "
                      "take a smaller one");
}

std::string grid::name() const { return written(x.points(), y.points(), z.points()); }

} // namespace hpccg
