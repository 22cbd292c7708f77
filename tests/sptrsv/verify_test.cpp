// The checks find what is wrong.
#include <limits>

#include "apps/sptrsv/incomplete_cholesky.hpp"
#include "apps/sptrsv/verify.hpp"
#include "support.hpp"

namespace sptrsv {
namespace {
using testing::numbers;
using testing::systems;

TEST(Verifier, AcceptsTheSolution) {
    for (const triangle &of : systems()) {
        const std::vector<double> exact = numbers(of.rows()), right = multiply(of, exact);
        const verifier checks(of, right, 1);
        EXPECT_TRUE(checks.check(exact).right()) << checks.check(exact).text(); // the right side is rounded
        const verdict found = checks.check(checks.serial_solution());
        EXPECT_TRUE(found.right());
        EXPECT_EQ(found.difference, 0);
    }
}

TEST(Verifier, FindsASmallError) {
    const triangle of = incomplete_cholesky(laplacian({40, 30}));
    const std::vector<double> right = multiply(of, numbers(of.rows()));
    const verifier checks(of, right, 4);
    for (const std::size_t row : {0u, 700u, 1199u}) {
        std::vector<double> x(checks.serial_solution().begin(), checks.serial_solution().end());
        x[row] += 0x1p-40;
        const verdict found = checks.check(x);
        EXPECT_FALSE(found.right()) << row;
        EXPECT_GT(found.residual_share, 1) << row;
        EXPECT_EQ(found.difference, 0x1p-40);
        EXPECT_NE(found.text().find("it differs from the serial solution by 9.09495e-13"), std::string::npos)
            << found.text();
    }
}

TEST(Verifier, RefusesWhatIsNoNumber) {
    const triangle of = testing::small();
    const std::vector<double> right{8, 6, 5, 28};
    const verifier checks(of, right, 1);
    verdict all = checks.check(std::vector<double>{2, 2, std::numeric_limits<double>::quiet_NaN(), 2});
    EXPECT_FALSE(all.right());
    all.combine(checks.check(std::vector<double>{2, 2, 1, 2}));
    EXPECT_FALSE(all.right()); // a later solution does not make up for it
}

} // namespace
} // namespace sptrsv
