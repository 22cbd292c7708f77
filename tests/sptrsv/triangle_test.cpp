// Triangular matrices: substitution, transposes, grids, incomplete factors, levels.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/sptrsv/grid.hpp"
#include "apps/sptrsv/incomplete_cholesky.hpp"
#include "apps/sptrsv/levels.hpp"
#include "apps/sptrsv/triangle.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::message_of;
using testing::numbers;
using testing::small;
using testing::systems;

std::vector<double> solved(const triangle &of, const std::vector<double> &right) {
    std::vector<double> x(right.size());
    substitute(of, reciprocals(of.diagonal), right, x);
    return x;
}

TEST(Triangle, IsSolvedBySubstitution) {
    EXPECT_EQ(solved(small(), {8, 6, 5, 28}), (std::vector<double>{2, 2, 1, 2}));
    EXPECT_EQ(multiply(small(), std::vector<double>{2, 2, 1, 2}), (std::vector<double>{8, 6, 5, 28}));
}

TEST(Triangle, TransposesForBackwardSubstitution) {
    // 4 1 0 3, and its rows and columns from the last to the first: 8
    // 0 2 0 0                                                       6 5
    // 0 0 5 6                                                       0 0 2
    // 0 0 0 8                                                       3 0 1 4
    EXPECT_EQ(reversed_transpose(small()), (triangle{{0, 0, 1, 1, 3}, {0, 0, 2}, {6, 3, 1}, {8, 5, 2, 4}}));
    for (const triangle &each : systems())
        EXPECT_EQ(reversed_transpose(reversed_transpose(each)), each);
}

TEST(Laplacian, HasAnEntryForEachPairOfNeighbors) {
    EXPECT_EQ(laplacian({3, 2}), (triangle{{0, 0, 1, 2, 3, 5, 7},
                                           {0, 1, 0, 1, 3, 2, 4},
                                           std::vector<double>(7, -1),
                                           std::vector<double>(6, 4)}));
    EXPECT_EQ(laplacian({20, 30}).entries(), 600 + 19 * 30 + 20 * 29);
    EXPECT_EQ(laplacian({5, 6, 7}).entries(), 210 + 4 * 42 + 5 * 35 + 6 * 30);
    EXPECT_EQ(laplacian({5, 6, 7, stencil::box}).entries(), (210 + 13 * 16 * 19) / 2);
    EXPECT_EQ(laplacian({5, 6, 7, stencil::box}).diagonal[0], 26);
    for (const stencil around : {stencil::star, stencil::box}) { // the order does not change what there is
        const triangle natural = laplacian({13, 9, 11, around}),
                       dissected = laplacian({13, 9, 11, around, order::dissected});
        EXPECT_EQ(natural.entries(), dissected.entries());
        EXPECT_NE(natural, dissected);
    }
}

TEST(Laplacian, HasFewLevelsIfDissected) {
    const auto levels = [](order how) {
        return level_sizes(row_levels(laplacian({64, 64, 1, stencil::star, how}))).size();
    };
    EXPECT_EQ(levels(order::natural), 127u);
    EXPECT_LT(levels(order::dissected), 40u);
}

TEST(Laplacian, HasAPermutationOfItsPoints) {
    for (const grid &of :
         {grid{1, 1, 1, stencil::star, order::dissected}, grid{9, 1, 1, stencil::star, order::dissected},
          grid{40, 33, 21, stencil::star, order::dissected}}) {
        std::vector<index> found = point_numbers(of), expected(found.size());
        std::sort(found.begin(), found.end());
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(found, expected);
        EXPECT_EQ(found.size(), std::size_t(of.nx * of.ny * of.nz));
    }
}

TEST(Laplacian, RefusesTooManyPoints) {
    EXPECT_EQ(message_of([] {
                  laplacian({65536, 32768});
              }),
              "the grid 65536 x 32768 x 1 has too many points; at most 2147483647 are possible");
}

TEST(IncompleteCholesky, IsExactWithoutFill) {
    const triangle factor = incomplete_cholesky(laplacian({10, 1})); // tridiagonal
    for (index row = 0; row < 10; ++row) {
        double diagonal = std::pow(factor.diagonal[std::size_t(row)], 2);
        for (const double each : factor.values_of(row))
            diagonal += each * each;
        EXPECT_NEAR(diagonal, 4, 1e-15);
        if (row > 0) {
            EXPECT_NEAR(factor.values_of(row)[0] * factor.diagonal[std::size_t(row) - 1], -1, 1e-15);
        }
    }
}

TEST(IncompleteCholesky, ReproducesTheEntriesOfTheMatrix) {
    const triangle matrix = laplacian({6, 5, 4, stencil::box}), factor = incomplete_cholesky(matrix);
    EXPECT_EQ(factor.columns, matrix.columns);
    // Rows of the factor, dense.
    const auto rows = std::size_t(matrix.rows());
    std::vector<std::vector<double>> dense(rows, std::vector<double>(rows));
    for (std::size_t row = 0; row < rows; ++row) {
        const auto columns = factor.columns_of(index(row));
        for (std::size_t k = 0; k < columns.size(); ++k)
            dense[row][std::size_t(columns[k])] = factor.values_of(index(row))[k];
        dense[row][row] = factor.diagonal[row];
    }
    for (std::size_t row = 0; row < rows; ++row) {
        for (const index column : matrix.columns_of(index(row)))
            EXPECT_NEAR(std::inner_product(dense[row].begin(), dense[row].end(),
                                           dense[std::size_t(column)].begin(), 0.0),
                        -1, 1e-13);
        EXPECT_NEAR(std::inner_product(dense[row].begin(), dense[row].end(), dense[row].begin(), 0.0), 26,
                    1e-13);
    }
}

TEST(IncompleteCholesky, NamesTheRowWhereItBreaksDown) {
    triangle matrix = laplacian({3, 1});
    matrix.diagonal[1] = 0.25;
    EXPECT_EQ(message_of([&] { incomplete_cholesky(matrix); }),
              "the incomplete Cholesky factorization breaks down in row 2, whose pivot is 0.000000; use "
              "--factor=triangle, or a matrix with a larger diagonal");
}

TEST(Levels, FollowTheDependencies) {
    EXPECT_EQ(row_levels(small()), (std::vector<index>{0, 1, 0, 1}));
    EXPECT_EQ(level_sizes({0, 1, 0, 2, 0}), (std::vector<std::int64_t>{3, 1, 1}));
    for (const triangle &each : systems()) {
        const std::vector<index> levels = row_levels(each);
        for (index row = 0; row < each.rows(); ++row) {
            index highest = -1;
            for (const index column : each.columns_of(row))
                highest = std::max(highest, levels[std::size_t(column)]);
            ASSERT_EQ(levels[std::size_t(row)], highest + 1);
        }
        const auto sizes = level_sizes(levels);
        EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), each.rows());
    }
}

} // namespace
} // namespace sptrsv
