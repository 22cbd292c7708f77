// The cases between ranks of this process, each a task.
#include <atomic>
#include <gtest/gtest.h>
#include <tuple>

#include "tests/comm/conformance/ranks.hpp"
#include "tests/global/cases.hpp"

namespace {

using namespace fult::comm::testing;
using fult::global::testing::global_cases;

using parameters = std::tuple<int, conformance_case>;
struct global_memory : ::testing::TestWithParam<parameters> {};

TEST_P(global_memory, does_what_it_must) {
    world_settings settings;
    settings.ranks = std::get<0>(GetParam());
    const fult::runtime running(as_many_workers_as_asked_for());
    std::atomic<int> ended{0}; // a case throws where a result is wrong
    run_ranks(settings, [&](party &p, world &) {
        std::get<1>(GetParam()).run(p);
        ++ended;
    });
    EXPECT_EQ(ended, settings.ranks);
}

INSTANTIATE_TEST_SUITE_P(ranks, global_memory,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::ValuesIn(global_cases().begin(),
                                                                global_cases().end())),
                         [](const ::testing::TestParamInfo<parameters> &info) {
                             return std::to_string(std::get<0>(info.param)) + "_" +
                                    std::get<1>(info.param).name;
                         });

} // namespace
