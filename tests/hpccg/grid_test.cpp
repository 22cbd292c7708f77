// The system of a grid: compared with a plain definition, point by point.
#include <array>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "apps/hpccg/grid.hpp"
#include "apps/hpccg/kernels.hpp"
#include "apps/hpccg/serial_execution.hpp"
#include "tests/support/application_files.hpp"

namespace hpccg {
namespace {
const serial_execution serial;

bool neighbours(std::int64_t a, std::int64_t b, std::int64_t nx, std::int64_t ny) {
    const auto near = [](std::int64_t i, std::int64_t j) { return std::llabs(i - j) <= 1; };
    return near(a % nx, b % nx) && near(a / nx % ny, b / nx % ny) && near(a / (nx * ny), b / (nx * ny));
}

class Grid : public ::testing::TestWithParam<std::array<int, 3>> {};

TEST_P(Grid, HasTheStencilOfEachPoint) {
    const auto [nx, ny, nz] = GetParam();
    const problem made = make_problem(serial, grid(nx, ny, nz));
    const std::int64_t rows = std::int64_t(nx) * ny * nz;
    ASSERT_EQ(made.rows(), rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<std::int32_t> expected;
        for (std::int64_t column = 0; column < rows; ++column)
            if (neighbours(row, column, nx, ny))
                expected.push_back(std::int32_t(column));
        const auto begin = made.matrix.row_start[std::size_t(row)];
        const auto end = made.matrix.row_start[std::size_t(row) + 1];
        ASSERT_EQ(
            std::vector<std::int32_t>(made.matrix.columns.data() + begin, made.matrix.columns.data() + end),
            expected);
        double sum = 0;
        for (auto at = begin; at < end; ++at) {
            const bool diagonal = made.matrix.columns[std::size_t(at)] == row;
            ASSERT_EQ(made.matrix.values[std::size_t(at)], diagonal ? 27.0 : -1.0);
            sum += made.matrix.values[std::size_t(at)];
        }
        ASSERT_EQ(made.right[std::size_t(row)], sum); // A times ones
        ASSERT_EQ(made.solution[std::size_t(row)], 1.0);
        ASSERT_EQ(made.guess[std::size_t(row)], 0.0);
    }
    EXPECT_EQ(made.matrix.row_start[std::size_t(rows)], made.matrix.entries());
}

INSTANTIATE_TEST_SUITE_P(Shapes, Grid,
                         ::testing::Values(std::array{1, 1, 1}, std::array{1, 1, 7}, std::array{7, 1, 1},
                                           std::array{1, 5, 2}, std::array{2, 2, 2}, std::array{3, 4, 5},
                                           std::array{12, 11, 10}));

TEST(GridLimits, RefusesWhatIsEmptyOrTooLarge) {
    EXPECT_EQ(fult::testing::message_of([] { grid(4, 0, 4); }),
              "a grid of 4 x 0 x 4 is empty; give three whole numbers from 1 on");
    EXPECT_EQ(
        fult::testing::message_of([] { grid(2048, 1024, 1024); }),
        "a grid of 2048 x 1024 x 1024 has more than 2147483647 points, which 32-bit column numbers cannot "
        "name; take a smaller one");
    EXPECT_EQ(fult::testing::message_of([] { grid(2147483647, 2147483647, 2147483647); }).substr(0, 9),
              "a grid of");
    EXPECT_EQ(grid(2147483647, 1, 1).rows(), 2147483647);
}

TEST(GridLimits, TellsWhatItNeedsBeforeItAsksForMemory) {
    const grid large(1290, 1290, 1290);
    EXPECT_EQ(large.entries(), 3868LL * 3868 * 3868);
    EXPECT_GT(large.bytes(), std::uint64_t{700} << 30);
    EXPECT_EQ(fult::testing::message_of([] { require_bytes("the grid 8 x 8 x 8", 3 << 29, 1 << 20); }),
              "the grid 8 x 8 x 8 needs 1.5 GiB of memory, and 1.0 MiB are available; take a smaller one");
    EXPECT_EQ(fult::testing::message_of([] { require_bytes("it", 1 << 20, 1 << 20); }), "");
    EXPECT_GT(available_bytes(), 0u);
}

TEST(Kernels, DotOfABlockIsTheSumWhateverItsLength) {
    std::vector<double> x(100), y(100);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = double(i + 1), y[i] = double(2 * i + 1);
    for (std::int64_t length = 0; length <= 100; ++length) {
        double sum = 0; // exact: all are small whole numbers
        for (std::size_t i = 0; i < std::size_t(length); ++i)
            sum += x[i] * y[i];
        EXPECT_EQ(block_dot(x.data(), y.data(), 0, length), sum) << length;
    }
}
} // namespace
} // namespace hpccg
