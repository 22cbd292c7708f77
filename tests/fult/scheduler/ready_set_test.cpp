#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <vector>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/memory/stack.hpp"
#include "fult/scheduler/ready_set.hpp"
#include "fult/scheduler/way_home.hpp"
#include "tests/support/home.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;
using fult::options;
using fult::spawn_order;

struct ready_set_test : ::testing::Test {
    fult::testing::bare_home home;
    std::unique_ptr<ready_set> tasks = std::make_unique<ready_set>();
    task *at(std::uint32_t slot) { return home.task_at(slot); }
    task *suspended(std::uint32_t slot) { // with a context that is not resumed
        task *const t = at(slot);
        t->context = t;
        return t;
    }
    void open(options opts = {}) {
        ASSERT_TRUE(asymmetric_fence_available());
        tasks->open(home.hot(), opts);
    }
    std::uint32_t request_flags() { return home.hot()->request_flags.load(); }
    // As a decision of the home does: pinned words first.
    task *take_public(bool started = false, bool gather = false) {
        task *const t = tasks->take_pinned(started);
        return t ? t : tasks->take_public(started, gather);
    }
    task *steal(std::uint32_t least = 0) {
        const ready_set::taken t = tasks->steal(wanted::any, least);
        forwarded = t.forwarded;
        return t.found;
    }
    bool forwarded = false; // by the last steal
    std::set<std::uint32_t> everything_public() {
        std::set<std::uint32_t> slots;
        while (task *t = take_public())
            slots.insert(slot_of(t));
        return slots;
    }
};

TEST_F(ready_set_test, is_empty_at_first) {
    open();
    EXPECT_FALSE(tasks->any_private());
    EXPECT_FALSE(tasks->may_have_public());
    EXPECT_EQ(tasks->take_ready(), nullptr);
    EXPECT_EQ(tasks->take_ready_in_turn(), nullptr);
    EXPECT_EQ(tasks->take_yielded_in_turn(), nullptr);
    EXPECT_EQ(tasks->take_yielded_at_turn(), nullptr);
    EXPECT_EQ(take_public(), nullptr);
    EXPECT_EQ(tasks->publish(), 0u);
    EXPECT_EQ(tasks->revoke(), 0u);
}

TEST_F(ready_set_test, newest_first) {
    open();
    for (const std::uint32_t slot : {3u, 70u, 9000u, 9001u})
        tasks->add_ready(at(slot));
    EXPECT_TRUE(tasks->any_private());
    for (const std::uint32_t slot : {9001u, 9000u, 70u, 3u})
        EXPECT_EQ(tasks->take_ready(), at(slot));
    EXPECT_FALSE(tasks->any_private());
}

TEST_F(ready_set_test, oldest_first_by_option) {
    options opts;
    opts.order = spawn_order::breadth_first;
    open(opts);
    for (const std::uint32_t slot : {65u, 70u, 9000u})
        tasks->add_ready(at(slot));
    for (const std::uint32_t slot : {65u, 70u, 9000u})
        EXPECT_EQ(tasks->take_ready(), at(slot));
    // upwards, then from the start: a task that becomes ready below the sweep is reached in the next one
    tasks->add_ready(at(3));
    tasks->add_ready(at(9001));
    EXPECT_EQ(tasks->take_ready(), at(9001));
    EXPECT_EQ(tasks->take_ready(), at(3));
}

// However many newer ones become ready, a sweep reaches each task.
TEST_F(ready_set_test, a_sweep_reaches_all) {
    open();
    std::set<std::uint32_t> waiting{1, 5, 64, 8000, 100000};
    for (const std::uint32_t slot : waiting)
        tasks->add_yielded(suspended(slot));
    const std::size_t once_around = waiting.size();
    for (std::size_t i = 0; i < once_around; ++i) {
        task *t = tasks->take_yielded_in_turn();
        ASSERT_NE(t, nullptr);
        waiting.erase(slot_of(t));
        tasks->add_yielded(t); // it yields again at once
    }
    EXPECT_TRUE(waiting.empty()) << "slot " << *waiting.begin() << " was passed over";
}

TEST_F(ready_set_test, a_thief_goes_on_from_a_slot) {
    open();
    for (const std::uint32_t slot : {3u, 70u, 71u, 9000u})
        tasks->make_claimable(at(slot), false);
    EXPECT_EQ(steal(71), at(71));
    EXPECT_EQ(steal(72), at(9000));
    EXPECT_EQ(steal(72), nullptr);
    EXPECT_EQ(steal(), at(3));
    EXPECT_EQ(steal(4), at(70));
    EXPECT_FALSE(forwarded);
}

TEST_F(ready_set_test, the_quick_sweep_agrees_with_the_full_one) {
    open();
    for (const std::uint32_t slot : {2u, 7u, 40u})
        tasks->add_yielded(suspended(slot));
    std::vector<std::uint32_t> order;
    for (int i = 0; i < 6; ++i) {
        task *t = tasks->take_yielded_at_turn();
        if (!t)
            t = tasks->take_yielded_in_turn();
        ASSERT_NE(t, nullptr);
        order.push_back(slot_of(t));
        tasks->add_yielded(t);
    }
    EXPECT_EQ(order, (std::vector<std::uint32_t>{40, 7, 2, 40, 7, 2}));
}

TEST_F(ready_set_test, publishing_keeps_half_of_the_last_word) {
    open();
    for (std::uint32_t slot = 0; slot < 7; ++slot)
        tasks->add_ready(at(slot));
    EXPECT_EQ(tasks->publish(), 4u);
    EXPECT_EQ(everything_public(), (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(ready_set_test, publishing_gives_the_oldest_word) {
    open();
    for (std::uint32_t slot = 0; slot < 8; ++slot)
        tasks->add_ready(at(slot));
    tasks->add_ready(at(200));
    EXPECT_EQ(tasks->publish(), 8u) << "the older word as a whole";
    EXPECT_EQ(everything_public(), (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(tasks->take_ready(), at(200));
}

TEST_F(ready_set_test, a_published_task_can_be_claimed_and_a_private_one_not) {
    open();
    tasks->add_ready(at(5));
    EXPECT_EQ(at(5)->state.load(), busy);
    tasks->publish();
    EXPECT_EQ(at(5)->state.load(), ready);
    EXPECT_FALSE(tasks->any_private());
    EXPECT_EQ(steal(), at(5));
    EXPECT_EQ(at(5)->state.load(), busy);
    EXPECT_FALSE(forwarded);
}

TEST_F(ready_set_test, revoked_tasks_are_public_and_the_owner_gives_them_up) {
    open();
    for (const std::uint32_t slot : {1u, 2u, 300u})
        tasks->add_ready(at(slot));
    EXPECT_EQ(tasks->revoke(), 2u) << "the oldest word";
    EXPECT_NE(request_flags() & revoked, 0u);
    EXPECT_EQ(tasks->revoke(), 1u) << "the next one, without another barrier";
    EXPECT_EQ(tasks->revoke(), 0u);
    EXPECT_EQ(tasks->take_ready(), nullptr) << "the owner's next look notices";
    EXPECT_EQ(request_flags() & revoked, 0u);
    EXPECT_FALSE(tasks->any_private());
    EXPECT_EQ(everything_public(), (std::set<std::uint32_t>{1, 2, 300}));
}

TEST_F(ready_set_test, reconciling_returns_what_was_lost_of_a_word) {
    open();
    tasks->add_ready(at(64));
    tasks->add_ready(at(66));
    EXPECT_EQ(tasks->revoke(), 2u);
    EXPECT_EQ(tasks->reconcile(1), bit_of(64) | bit_of(66));
    EXPECT_EQ(tasks->reconcile(1), 0u);
}

TEST_F(ready_set_test, a_task_that_came_back_through_public_words_becomes_private_again) {
    open();
    stack on;
    at(9)->context = this;
    at(9)->stack = &on;
    tasks->add_yielded(suspended(9));
    EXPECT_EQ(tasks->revoke(), 1u);
    EXPECT_EQ(tasks->take_public_in_turn(), at(9)); // it runs here while its old bit is still set
    tasks->add_yielded(suspended(9));
    EXPECT_EQ(tasks->take_yielded_in_turn(), at(9));
    tasks->add_ready(at(11));
    EXPECT_EQ(tasks->revoke(), 1u);
    EXPECT_EQ(tasks->take_public_in_turn(), at(11));
    tasks->add_ready(at(11));
    EXPECT_EQ(tasks->take_ready(), at(11));
    EXPECT_FALSE(tasks->any_private());
}

TEST_F(ready_set_test, what_yielded_is_revoked_too) {
    open();
    stack on;
    at(9)->context = this; // only its presence counts
    at(9)->stack = &on;
    at(70)->context = this;
    at(70)->stack = &on;
    tasks->add_yielded(suspended(9));
    EXPECT_EQ(tasks->revoke(), 1u);
    EXPECT_EQ(at(9)->state.load(), ready);
    EXPECT_EQ(tasks->take_yielded_in_turn(), nullptr);
    EXPECT_EQ(steal(), at(9));
    on.pinned = at(70)->pinned = true; // one that stays at home becomes visible to its home only
    tasks->add_yielded(suspended(70));
    EXPECT_EQ(tasks->revoke(), 0u) << "nothing that a thief could take";
    EXPECT_EQ(steal(), nullptr);
    EXPECT_EQ(take_public(), at(70));
    at(9)->outer = outer_word::above(at(71)); // in place: above one that is in place above that one
    at(71)->outer = outer_word::above(at(70));
    tasks->add_yielded(suspended(9));
    EXPECT_EQ(tasks->revoke(), 1u);
    EXPECT_EQ(steal(), at(9));
    EXPECT_FALSE(has_at_end(at(9), leads_home));
    EXPECT_TRUE(has_at_end(at(71), leads_home));
    EXPECT_EQ(task_below(at(71)), at(70));
}

TEST_F(ready_set_test, a_thief_hands_over_what_is_pinned) {
    open();
    at(11)->state = ready_pinned;
    tasks->post(at(11), false); // as a signal by an unpinned name would
    EXPECT_EQ(steal(), nullptr);
    EXPECT_TRUE(forwarded);
    EXPECT_FALSE(tasks->may_have_public());
    EXPECT_TRUE(tasks->may_have_pinned());
    EXPECT_EQ(take_public(), at(11));
}

TEST_F(ready_set_test, a_bit_of_a_running_task_becomes_its_token) {
    open();
    tasks->post(at(4), false);
    EXPECT_EQ(take_public(), nullptr);
    EXPECT_EQ(at(4)->pending_wakeup.load(), 1u);
    EXPECT_FALSE(tasks->may_have_public())
        << "nothing stays behind that others would look at again and again";
}

TEST_F(ready_set_test, thieves_take_the_oldest_and_the_home_the_newest) {
    open();
    for (const std::uint32_t slot : {10u, 600u, half_slots + 2}) {
        at(slot)->state = ready;
        tasks->post(at(slot), false);
    }
    EXPECT_EQ(take_public(), at(half_slots + 2));
    EXPECT_EQ(steal(), at(10));
    EXPECT_EQ(take_public(), at(600));
}

// If no worker searches, one poll takes all of a word: the newest is run, those that may be private
// become private, in their order; the others are published again.
TEST_F(ready_set_test, a_swarm_is_gathered) {
    open();
    stack free_stack, pinned_stack;
    pinned_stack.pinned = true;
    const auto parked = [&](std::uint32_t slot, stack &on) {
        at(slot)->context = &free_stack; // anything: never resumed
        at(slot)->stack = &on;
        at(slot)->pinned = on.pinned;
        at(slot)->state = on.pinned ? ready_pinned : ready;
        tasks->post(at(slot), false);
    };
    at(1)->state = ready; // published before it has started
    tasks->post(at(1), false);
    parked(2, free_stack);
    parked(3, pinned_stack); // a stray bit
    at(4)->state = busy;     // it runs: the signal is kept
    tasks->post(at(4), false);
    parked(5, free_stack);
    EXPECT_EQ(take_public(false, false), at(5)); // not gathered: the others are still public
    EXPECT_TRUE(tasks->may_have_public());
    EXPECT_FALSE(tasks->any_private());
    parked(5, free_stack);

    EXPECT_EQ(take_public(false, true), at(5));
    EXPECT_FALSE(tasks->may_have_public());
    EXPECT_TRUE(tasks->may_have_pinned());
    EXPECT_EQ(at(4)->pending_wakeup, 1u);
    EXPECT_EQ(tasks->take_yielded_in_turn(), at(2));
    EXPECT_EQ(tasks->take_yielded_in_turn(), nullptr);
    EXPECT_EQ(tasks->take_ready(), at(1));
    EXPECT_EQ(take_public(false, true), at(3));
    EXPECT_FALSE(tasks->any_private() || tasks->may_have_public() || tasks->may_have_pinned());
}

// A task that a thief has revoked to the public words is gathered again; its old private bit must not take
// the new one with it.
TEST_F(ready_set_test, what_was_revoked_is_gathered_and_not_lost) {
    open();
    stack on;
    for (const std::uint32_t slot : {1u, 2u}) {
        at(slot)->context = &on; // anything: never resumed
        at(slot)->stack = &on;
    }
    tasks->add_yielded(suspended(1));
    EXPECT_EQ(tasks->revoke(), 1u);
    at(2)->state = ready;
    tasks->post(at(2), false);
    EXPECT_EQ(take_public(false, true), at(2));
    EXPECT_FALSE(tasks->may_have_public());
    EXPECT_EQ(tasks->take_yielded_in_turn(), at(1));
    EXPECT_EQ(request_flags() & revoked, 0u);
}

// The upper half's slots have no private words.
TEST_F(ready_set_test, what_others_spawned_here_is_not_gathered) {
    open();
    for (const std::uint32_t slot : {half_slots + 2, half_slots + 3, half_slots + 4}) {
        at(slot)->state = ready;
        tasks->post(at(slot), false);
    }
    EXPECT_EQ(take_public(false, true), at(half_slots + 4));
    EXPECT_EQ(take_public(false, true), at(half_slots + 3));
    EXPECT_FALSE(tasks->any_private());
    EXPECT_EQ(take_public(false, true), at(half_slots + 2));
}

} // namespace
