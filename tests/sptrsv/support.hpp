// What the tests of sptrsv share.
#pragma once

#include <vector>

#include "apps/sptrsv/grid.hpp"
#include "apps/sptrsv/triangle.hpp"
#include "tests/support/application_files.hpp"

namespace sptrsv::testing {

using fult::testing::message_of;
using fult::testing::temporary_file;

// 4 0 0 0
// 1 2 0 0
// 0 0 5 0
// 3 0 6 8
inline triangle small() { return {{0, 0, 1, 1, 3}, {0, 0, 2}, {1, 3, 6}, {4, 2, 5, 8}}; }

// Systems of all kinds, with values that differ from each other.
inline std::vector<triangle> systems() {
    std::vector<triangle> all{small()};
    for (const grid &of : {grid{7, 5}, grid{30, 20}, grid{6, 5, 4, stencil::box},
                           grid{17, 19, 1, stencil::box, order::dissected},
                           grid{11, 9, 10, stencil::star, order::dissected}}) {
        triangle made = laplacian(of);
        for (std::size_t k = 0; k < made.values.size(); ++k)
            made.values[k] += double(k % 7) / 8;
        all.push_back(std::move(made));
    }
    triangle arrow; // each row needs the first column, the last one all columns
    arrow.starts = {0, 0};
    for (index row = 1; row < 20; ++row) {
        for (index column = 0; column < (row == 19 ? 19 : 1); ++column)
            arrow.columns.push_back(column);
        arrow.starts.push_back(std::int64_t(arrow.columns.size()));
    }
    arrow.values.assign(arrow.columns.size(), 0.5);
    arrow.diagonal.assign(20, 2);
    all.push_back(arrow);
    triangle diagonal; // no row needs another
    diagonal.starts.assign(41, 0);
    diagonal.diagonal.assign(40, 3);
    all.push_back(diagonal);
    return all;
}

// Numbers that differ from each other.
inline std::vector<double> numbers(index count) {
    std::vector<double> made;
    for (index k = 0; k < count; ++k)
        made.push_back(1 + k % 11 / 16.0);
    return made;
}

} // namespace sptrsv::testing
