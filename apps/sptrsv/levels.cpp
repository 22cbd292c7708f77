#include "levels.hpp"

#include <algorithm>

namespace sptrsv {

std::vector<index> row_levels(const triangle &of) {
    std::vector<index> levels(std::size_t(of.rows()), 0);
    for (index row = 0; row < of.rows(); ++row)
        for (const index column : of.columns_of(row))
            levels[std::size_t(row)] = std::max(levels[std::size_t(row)], levels[std::size_t(column)] + 1);
    return levels;
}

std::vector<std::int64_t> level_sizes(const std::vector<index> &levels) {
    std::vector<std::int64_t> sizes;
    for (const index level : levels) {
        if (std::size_t(level) >= sizes.size())
            sizes.resize(std::size_t(level) + 1);
        ++sizes[std::size_t(level)];
    }
    return sizes;
}

} // namespace sptrsv
