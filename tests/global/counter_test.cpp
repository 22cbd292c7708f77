// Counters that are used wrongly: each ends the program with a message.
#include <gtest/gtest.h>
#include <optional>

#include <fult/comm/context.hpp>
#include <fult/global/counter.hpp>
#include <fult/runtime.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::global::counter;

// One rank, without a launcher.
struct alone {
    fult::runtime running{fult::testing::workers(1)};
    fult::comm::context net;
    fult::global::memory in{net.world(), {.heap = 4096}};
};

TEST(counter, misuse_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            alone here;
            counter(here.in, -1);
        },
        "global::counter: the count is negative");
    EXPECT_DEATH(
        {
            alone here;
            counter(here.in, 1).count_down(2);
        },
        "counter::count_down: the update is larger than the count");
    EXPECT_DEATH(
        {
            alone here;
            counter(here.in, 1).count_down(-1);
        },
        "counter::count_down: the update is negative");
}

TEST(counter, a_count_after_the_end_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            alone here;
            std::optional<counter> ended(std::in_place, here.in, 1);
            const auto at = ended->pointer();
            ended.reset();
            fult::global::count_down(here.in, at);
        },
        "global::count_down: there is no counter at this pointer");
    EXPECT_DEATH(
        {
            alone here;
            const auto no_counter = here.in.allocate<std::uint64_t>(2);
            here.in.put(no_counter, 1);
            fult::global::count_down(here.in, fult::global::global_ptr<counter>(no_counter.where()));
        },
        "global::count_down: there is no counter at this pointer");
}

} // namespace
