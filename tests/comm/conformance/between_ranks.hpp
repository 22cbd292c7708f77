// Tests of cases between ranks of this process: one for each case and number of ranks.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <string>
#include <tuple>

#include <fult/runtime.hpp>

#include "tests/comm/conformance/ranks.hpp"

namespace fult::comm::testing {

using ranks_and_case = std::tuple<int, conformance_case>;

class between_ranks : public ::testing::TestWithParam<ranks_and_case> {
  protected:
    static void run() {
        world_settings settings;
        settings.ranks = std::get<0>(GetParam());
        const runtime running(as_many_workers_as_asked_for());
        std::atomic<int> ended{0}; // a case throws where a result is wrong
        run_ranks(settings, [&](party &p, world &) {
            std::get<1>(GetParam()).run(p);
            ++ended;
        });
        EXPECT_EQ(ended, settings.ranks);
    }
};

inline std::string name_of(const ::testing::TestParamInfo<ranks_and_case> &info) {
    return std::to_string(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
}

} // namespace fult::comm::testing
