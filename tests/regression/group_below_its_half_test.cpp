// The tasks that a worker gets from others are in the upper half of its slots. A group's owner that had
// spawned one there, and then came to that worker itself, looked for more of its tasks down to slots that
// have no memory.
#include <atomic>
#include <gtest/gtest.h>

#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::testing::spin_until;
namespace this_task = fult::this_task;

TEST(group_below_its_half, owner_waits_where_it_had_spawned_from_outside) {
    fult::options options = fult::testing::workers(2);
    options.max_tasks = 64 * 1024;
    const fult::runtime running(options);
    std::atomic<bool> has_spawned{false}, is_kept{false}, has_waited{false};
    std::atomic<unsigned> ran{0}, waited_on{2};
    fult::event go_on;
    auto owner = fult::spawn_on(1, [&] {
        EXPECT_EQ(this_task::worker(), 1);
        fult::task_group group;
        group.spawn({.worker = 0}, [&] { ++ran; });
        has_spawned = true;
        go_on.wait();
        waited_on = this_task::worker();
        group.wait();
        has_waited = true;
    });
    spin_until([&] { return has_spawned.load(); }); // worker 1 has it: this one does not suspend
    auto keeper = fult::spawn_pinned(1, [&] {       // keeps worker 1: the owner continues on worker 0
        is_kept = true;
        spin_until([&] { return has_waited.load(); });
    });
    spin_until([&] { return is_kept.load(); });
    go_on.set();
    owner.join();
    keeper.join();
    EXPECT_EQ(ran.load(), 1u);
    EXPECT_EQ(waited_on.load(), 0u);
}

} // namespace
