#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "fult/task.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;

TEST(claim, only_a_ready_task_is_claimed) {
    task t{};
    EXPECT_EQ(claim(t, true), claim_result::not_now);
    EXPECT_EQ(t.pending_wakeup.load(), 1u) << "the signal is retained";
    t.pending_wakeup = 0;
    t.state = ready;
    EXPECT_EQ(claim(t, false), claim_result::ours);
    EXPECT_EQ(t.state.load(), busy);
    EXPECT_EQ(t.pending_wakeup.load(), 0u);
}

TEST(claim, a_pinned_one_only_at_home) {
    task t{};
    t.state = ready_pinned;
    EXPECT_EQ(claim(t, false), claim_result::pinned);
    EXPECT_EQ(t.state.load(), ready_pinned);
    EXPECT_EQ(t.pending_wakeup.load(), 0u);
    EXPECT_EQ(claim(t, true), claim_result::ours);
}

TEST(claim, names_carry_whether_a_task_is_pinned) {
    alignas(128) task t{};
    EXPECT_EQ(to_task(to_id(&t)), &t);
    const fult::task_id loose = to_id(&t);
    t.pinned = true;
    EXPECT_NE(to_id(&t), loose);
    EXPECT_EQ(to_task(to_id(&t)), &t);
}

// A signal that meets a task which is suspending: either its claim wins, or the pending wake-up shows it to
// the task. Never both, never neither (tests/model/park.pml has all interleavings; this has real processors).
TEST(claim, a_signal_and_a_park_meet) {
    task t{};
    const std::size_t rounds = fult::testing::scaled(100000);
    std::atomic<std::size_t> claimed{0}, begun{0}, over{0};
    std::thread signaler([&] {
        for (std::size_t i = 1; i <= rounds; ++i) {
            fult::testing::spin_until([&] { return begun.load() == i; });
            if (claim(t, true) == claim_result::ours)
                claimed.fetch_add(1);
            over.store(i);
        }
    });
    for (std::size_t i = 1; i <= rounds; ++i) {
        const std::size_t before = claimed.load();
        t.state.store(busy);
        t.pending_wakeup.store(0);
        begun.store(i);
        t.state.exchange(ready); // as worker::arrive does
        const bool mine = t.pending_wakeup.load() != 0 && t.pending_wakeup.exchange(0) != 0;
        fult::testing::spin_until([&] { return over.load() == i; });
        const bool theirs = claimed.load() != before;
        const bool later = t.pending_wakeup.load() != 0 && t.state.load() == ready;
        ASSERT_EQ(int(mine) + int(theirs), 1) << "round " << i;
        ASSERT_FALSE(later) << "a token lies beside a parked task in round " << i;
    }
    signaler.join();
}

} // namespace
