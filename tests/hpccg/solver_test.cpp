// The solver: right, and the same whatever runs its loops.
#include <array>
#include <cmath>
#include <tuple>

#include "apps/hpccg/fult_execution.hpp"
#include "apps/hpccg/grid.hpp"
#include "apps/hpccg/serial_execution.hpp"
#include "apps/hpccg/solver.hpp"
#include "tests/support/application_files.hpp"
#include "tests/support/support.hpp"

namespace hpccg {
namespace {
const serial_execution serial;

void expect_same_history(const result &found, const result &expected) {
    ASSERT_EQ(found.residuals.size(), expected.residuals.size());
    ASSERT_EQ(found.iterations, expected.iterations);
    for (std::size_t k = 0; k < found.residuals.size(); ++k)
        ASSERT_NEAR(found.residuals[k], expected.residuals[k], 1e-12 * expected.residuals[k])
            << "iteration " << k;
}

class OnWorkers : public ::testing::TestWithParam<std::tuple<unsigned, std::array<int, 3>>> {};

TEST_P(OnWorkers, ResidualsAreTheSerialOnes) {
    const auto [workers, size] = GetParam();
    const grid points(size[0], size[1], size[2]);
    const problem given = make_problem(serial, points);
    const result expected = solve(serial, given);
    ASSERT_TRUE(compare(expected.x, given.solution).right());

    fult::runtime runtime(fult::testing::workers(workers));
    const fult_execution tasks;
    ASSERT_EQ(tasks.workers(), workers);
    const problem same = make_problem(tasks, points);
    ASSERT_EQ(same.matrix.entries(), given.matrix.entries());
    const result found = solve(tasks, same);
    expect_same_history(found, expected);
    EXPECT_TRUE(compare(found.x, same.solution).right());
}

INSTANTIATE_TEST_SUITE_P(All, OnWorkers,
                         ::testing::Combine(::testing::Values(1u, 2u, 8u),
                                            ::testing::Values(std::array{24, 24, 24}, std::array{70, 17, 13},
                                                              std::array{1, 1, 1}, std::array{1, 2, 3})));

TEST(Solver, StopsWhereTheResidualIsZero) {
    const problem given = make_problem(serial, grid(1, 1, 1));
    const result found = solve(serial, given);
    EXPECT_EQ(found.residuals.front(), 27.0);
    EXPECT_EQ(found.final_residual(), 0.0);
    EXPECT_LT(found.iterations, 5);
    EXPECT_EQ(found.x[0], 1.0);
}

TEST(Solver, TakesAsManyIterationsAsAskedFor) {
    const problem given = make_problem(serial, grid(20, 20, 20));
    const result few = solve(serial, given, 3);
    EXPECT_EQ(few.iterations, 3);
    EXPECT_EQ(few.residuals.size(), 4u);
    EXPECT_FALSE(compare(few.x, given.solution).right());
    const result many = solve(serial, given);
    EXPECT_EQ(many.iterations, usual_iterations);
    EXPECT_LT(many.final_residual(), 1e-12 * many.residuals[0]);
    EXPECT_GE(many.times.total, many.times.ddot + many.times.waxpby + many.times.sparsemv);
}

TEST(Solver, NamesAMatrixThatIsNotPositiveDefinite) {
    problem given = make_problem(serial, grid(3, 1, 1));
    for (std::int64_t at = 0; at < given.matrix.entries(); ++at)
        given.matrix.values[std::size_t(at)] *= -1;
    EXPECT_EQ(
        fult::testing::message_of([&] { solve(serial, given); }),
        "in iteration 1 the matrix shows that it is not positive definite; conjugate gradients need one that "
        "is symmetric and positive definite");
}

TEST(Verdict, IsNotRightWhereANumberIsWrongOrNone) {
    array<double> exact(3), x(3);
    for (std::size_t i = 0; i < 3; ++i)
        exact[i] = x[i] = 1.0;
    EXPECT_TRUE(compare(x, exact).right());
    x[1] = 1.0 + 1e-7;
    EXPECT_FALSE(compare(x, exact).right());
    x[1] = std::nan("");
    EXPECT_FALSE(compare(x, exact).right());
}
} // namespace
} // namespace hpccg
