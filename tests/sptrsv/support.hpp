// What the tests of sptrsv share.
#pragma once

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <unistd.h>
#include <vector>

#include "apps/sptrsv/grid.hpp"
#include "apps/sptrsv/triangle.hpp"
#include "tests/support/unique.hpp"

namespace sptrsv::testing {

// A file of this test alone, which is removed when the test ends.
class temporary_file {
  public:
    explicit temporary_file(const std::string &text = {}) {
        path_ = ::testing::TempDir() + "sptrsv_test." + fult::testing::unique_name() + "." +
                std::to_string(++made_);
        std::ofstream(path_) << text;
    }
    temporary_file(const temporary_file &) = delete;
    temporary_file &operator=(const temporary_file &) = delete;
    ~temporary_file() { ::unlink(path_.c_str()); }

    const std::string &path() const { return path_; }
    std::string text() const {
        std::ifstream in(path_);
        return {std::istreambuf_iterator<char>(in), {}};
    }

  private:
    static inline int made_ = 0;
    std::string path_;
};

// The message of the failure that the call ends with; empty if it ends without.
template <class Call> std::string message_of(const Call &call) {
    try {
        call();
    } catch (const failure &error) {
        return error.what();
    }
    return {};
}

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
