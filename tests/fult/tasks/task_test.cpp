#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "fult/tasks/task.hpp"
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
        t.state.exchange(ready); // as worker::finish_switch does
        const bool mine = t.pending_wakeup.load() != 0 && t.pending_wakeup.exchange(0) != 0;
        fult::testing::spin_until([&] { return over.load() == i; });
        const bool theirs = claimed.load() != before;
        const bool later = t.pending_wakeup.load() != 0 && t.state.load() == ready;
        ASSERT_EQ(int(mine) + int(theirs), 1) << "round " << i;
        ASSERT_FALSE(later) << "a token lies beside a parked task in round " << i;
    }
    signaler.join();
}

TEST(task_state, only_legal_transitions_are_in_the_table) {
    EXPECT_TRUE(is_legal(busy, ready));
    EXPECT_TRUE(is_legal(busy, ready_pinned));
    EXPECT_TRUE(is_legal(ready, busy));
    EXPECT_TRUE(is_legal(ready_pinned, busy));
    EXPECT_FALSE(is_legal(busy, busy));
    EXPECT_FALSE(is_legal(ready, ready));
    EXPECT_FALSE(is_legal(ready, ready_pinned));
    EXPECT_FALSE(is_legal(ready_pinned, ready));
}

TEST(task_state, a_second_transition_to_claimable_is_a_defect) {
    if (!assertions_on)
        GTEST_SKIP() << "built without assertions";
    task t{};
    set_claimable(t, ready);
    EXPECT_DEATH(set_claimable(t, ready), "a task that becomes claimable was busy");
    EXPECT_DEATH(set_suspended(t, ready_pinned), "a task that leaves its worker was busy");
    EXPECT_DEATH((void)try_claim(t, busy), "only a claimable task is claimed");
    EXPECT_EQ(try_claim(t, ready), ready);
    EXPECT_EQ(try_claim(t, ready), busy) << "claimed already: the state found is returned";
}

TEST(join_word, keeps_what_it_was_made_of) {
    alignas(128) task t{};
    EXPECT_FALSE(join_none.is_waiter());
    EXPECT_FALSE(join_done.is_waiter());
    EXPECT_FALSE(join_detached.is_waiter());
    for (const bool pinned : {false, true}) {
        t.pinned = pinned;
        const join_word joiner = join_word::of(to_id(&t));
        EXPECT_TRUE(joiner.is_waiter());
        EXPECT_EQ(joiner.tag(), pinned ? join_tag::pinned_task : join_tag::task);
        EXPECT_EQ(joiner.joiner(), to_id(&t));
    }
    alignas(8) char object[8];
    for (const join_tag tag : {join_tag::thread, join_tag::completion, join_tag::group}) {
        const join_word word = join_word::of(tag, object);
        EXPECT_EQ(word.tag(), tag);
        EXPECT_EQ(word.as<char>(tag), object);
    }
    if (assertions_on) {
        EXPECT_DEATH((void)join_word::of(join_tag::completion, object).as<char>(join_tag::group),
                     "read as what it is");
        EXPECT_DEATH((void)join_done.tag(), "only a waiter has a tag");
    }
}

TEST(outer_word, a_task_below_with_flags_or_a_mark) {
    alignas(128) task t{}, below{};
    EXPECT_EQ(t.outer.below(), nullptr);
    t.outer = outer_word::above(&below);
    EXPECT_EQ(t.outer.below(), &below);
    EXPECT_FALSE(t.outer.has(has_locals));
    t.outer.add(has_locals);
    t.outer.add(leads_home);
    EXPECT_TRUE(t.outer.has(has_locals));
    EXPECT_TRUE(t.outer.has(leads_home));
    EXPECT_EQ(t.outer.below(), &below);
    EXPECT_NE(t.outer, outer_word::above(&below));
}

} // namespace
