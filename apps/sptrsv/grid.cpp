#include "grid.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string>

namespace sptrsv {
namespace {

constexpr index smallest_part = 8; // points along the longest side of what is not split further

struct range {
    index first, last;
    index points() const { return last - first; }
};
using box = std::array<range, 3>; // of points: x, y, z

class dissection {
  public:
    explicit dissection(const grid &of) : of_(of), numbers_(std::size_t(of.nx) * of.ny * of.nz) {}

    std::vector<index> run() {
        split({{{0, of_.nx}, {0, of_.ny}, {0, of_.nz}}});
        return std::move(numbers_);
    }

  private:
    void split(const box &part) {
        const auto longest = std::max_element(
            part.begin(), part.end(), [](const range &a, const range &b) { return a.points() < b.points(); });
        if (longest->points() <= smallest_part)
            return number(part);
        const auto axis = std::size_t(longest - part.begin());
        const index middle = longest->first + longest->points() / 2;
        const auto along = [&](index first, index last) {
            box piece = part;
            piece[axis] = {first, last};
            return piece;
        };
        split(along(longest->first, middle));
        split(along(middle + 1, longest->last));
        split(along(middle, middle + 1));
    }

    void number(const box &part) {
        for (index z = part[2].first; z < part[2].last; ++z)
            for (index y = part[1].first; y < part[1].last; ++y)
                for (index x = part[0].first; x < part[0].last; ++x)
                    numbers_[std::size_t((std::int64_t(z) * of_.ny + y) * of_.nx + x)] = next_++;
    }

    const grid &of_;
    std::vector<index> numbers_;
    index next_ = 0;
};

struct offset {
    index x, y, z;
};

std::vector<offset> neighbors(const grid &of) {
    std::vector<offset> found;
    for (index z = of.nz > 1 ? -1 : 0; z <= (of.nz > 1); ++z)
        for (index y = -1; y <= 1; ++y)
            for (index x = -1; x <= 1; ++x) {
                const int distance = std::abs(x) + std::abs(y) + std::abs(z);
                if (distance == 1 || (distance > 1 && of.around == stencil::box))
                    found.push_back({x, y, z});
            }
    return found;
}

} // namespace

std::vector<index> point_numbers(const grid &of) {
    if (of.numbers == order::dissected)
        return dissection(of).run();
    std::vector<index> numbers(std::size_t(of.nx) * std::size_t(of.ny) * std::size_t(of.nz));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

triangle laplacian(const grid &of) {
    constexpr std::int64_t most = std::numeric_limits<index>::max();
    if (of.nx > most / of.ny || std::int64_t(of.nx) * of.ny > most / of.nz)
        throw failure("the grid " + std::to_string(of.nx) + " x " + std::to_string(of.ny) + " x " +
                      std::to_string(of.nz) + " has too many points; at most " + std::to_string(most) +
                      " are possible");
    const std::vector<index> numbers = point_numbers(of);
    const auto point_at = [&](index x, index y, index z) {
        return std::size_t((std::int64_t(z) * of.ny + y) * of.nx + x);
    };
    std::vector<std::int32_t> point_of(numbers.size());
    for (std::size_t point = 0; point < numbers.size(); ++point)
        point_of[std::size_t(numbers[point])] = index(point);
    const std::vector<offset> around = neighbors(of);
    triangle made;
    made.starts.push_back(0);
    made.diagonal.assign(numbers.size(), double(around.size()));
    std::vector<index> lower;
    for (const std::int32_t point : point_of) {
        const index x = point % of.nx, y = point / of.nx % of.ny, z = point / of.nx / of.ny;
        lower.clear();
        for (const offset &to : around) {
            const index nx = x + to.x, ny = y + to.y, nz = z + to.z;
            if (nx < 0 || ny < 0 || nz < 0 || nx >= of.nx || ny >= of.ny || nz >= of.nz)
                continue;
            const index other = numbers[point_at(nx, ny, nz)];
            if (other < numbers[std::size_t(point)])
                lower.push_back(other);
        }
        std::sort(lower.begin(), lower.end());
        made.columns.insert(made.columns.end(), lower.begin(), lower.end());
        made.starts.push_back(std::int64_t(made.columns.size()));
    }
    made.values.assign(made.columns.size(), -1);
    return made;
}

} // namespace sptrsv
