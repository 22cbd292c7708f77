// Then: a child's completion woke its parent out of another wait, or a signal for something else ended a
// join. Now: each wait looks for its own grant.
#include <atomic>
#include <gtest/gtest.h>

#include "tests/support/support.hpp"

namespace {

using fult::spawn;
namespace this_task = fult::this_task;

class own_grant : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, own_grant, ::testing::Values(1u, 2u));

TEST_P(own_grant, a_join_is_not_ended_by_other_signals) {
    for (std::size_t i = 0; i < fult::testing::scaled(300); ++i) {
        const fult::task_id parent = this_task::id();
        std::atomic<bool> go{false}, ended{false};
        auto child = spawn([&] {
            while (!go.load())
                this_task::yield();
            ended = true;
        });
        this_task::yield(); // it has started: the join has to wait
        auto noise = spawn([&] {
            for (int n = 0; n < 20; ++n) {
                signal(parent);
                this_task::yield();
            }
            go = true;
        });
        child.join();
        ASSERT_TRUE(ended.load());
        noise.join();
    }
}

// A task waits in a queue of its own making for a grant, while its child ends.
TEST_P(own_grant, a_waiter_is_not_granted_by_its_childs_end) {
    for (std::size_t i = 0; i < fult::testing::scaled(300); ++i) {
        std::atomic<bool> granted{false}, child_ended{false};
        fult::task_id waiter_id;
        std::atomic<bool> known{false};
        auto waiter = spawn([&] {
            auto child = spawn([&] {
                this_task::yield();
                child_ended = true;
            });
            waiter_id = this_task::id();
            known = true;
            while (!granted.load())
                this_task::wait();
            EXPECT_TRUE(child_ended.load());
            child.join();
        });
        while (!child_ended.load())
            this_task::yield();
        ASSERT_TRUE(known.load());
        ASSERT_FALSE(waiter.done());
        granted = true;
        signal(waiter_id);
        waiter.join();
    }
}

} // namespace
