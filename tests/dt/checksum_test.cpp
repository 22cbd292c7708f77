// The whole computation in one thread: NAS's checksums.
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <tuple>

#include "apps/dt/node.hpp"
#include "apps/dt/report.hpp"
#include "apps/dt/stored_streams.hpp"

namespace dt {
namespace {

class Checksum : public ::testing::TestWithParam<std::tuple<char, shape>> {};

TEST_P(Checksum, IsThatOfNAS) {
    const auto [name, form] = GetParam();
    const problem given = find_problem(name).value();
    const graph of = make_graph(form, given.width);
    stored_streams streams(of.arcs().size());
    double sum = 0;
    for (const node &each : of.nodes())
        sum += run_node(given, each, streams);
    for (std::size_t arc = 0; arc < of.arcs().size(); ++arc)
        EXPECT_THROW(streams.receive(int(arc)), std::logic_error)
            << "arc " << arc << " was never received from";
    EXPECT_EQ(sum, verified_checksum(form, given));
    EXPECT_TRUE(verified(form, given, {sum, 1}));
    EXPECT_FALSE(verified(form, given, {sum + 1, 1}));
}

INSTANTIATE_TEST_SUITE_P(Classes, Checksum,
                         ::testing::Combine(::testing::Values('S', 'W'),
                                            ::testing::Values(shape::black_hole, shape::white_hole,
                                                              shape::shuffle)),
                         [](const auto &each) {
                             return std::string(short_name(std::get<1>(each.param))) +
                                    std::get<0>(each.param);
                         });

} // namespace
} // namespace dt
