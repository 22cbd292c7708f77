// The walk of docs/life-of-a-task.md, step by step: what each leaves in the descriptor and in the words. One
// worker, so that every step is ours to take.
#include <atomic>
#include <gtest/gtest.h>

#include <fult/fult.hpp>

#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;
namespace this_task = fult::this_task;

struct life_of_a_task : ::testing::Test {
    fult::runtime running{fult::testing::workers(1)};
    worker *home = this_worker();
    task *main = home->current;

    bool is_private(const task *t) { return ready_bytes(home)[slot_of(t)].load() != 0; }
    bool is_public(const task *t) { return home->tasks.runnable().contains(slot_of(t)); }
};

void expect_at_rest(const task *t) {
    EXPECT_EQ(t->state.load(), busy);
    EXPECT_EQ(t->join.load(), join_none);
    EXPECT_EQ(t->context, nullptr);
    EXPECT_EQ(t->extras, nullptr);
    EXPECT_EQ(t->result, result_kind::none);
}

TEST_F(life_of_a_task, main_is_one) {
    EXPECT_EQ(home_of(main), home);
    EXPECT_TRUE(main->pinned);
    EXPECT_EQ(main->state.load(), busy) << "it runs";
    EXPECT_EQ(to_task(this_task::id()), main);
}

TEST_F(life_of_a_task, when_uncontended) {
    task *const slot = home->run.next;
    expect_at_rest(slot);

    // spawn: the next slot of the run, a ready byte, nothing public
    bool ran = false;
    auto child = fult::spawn([&] {
        ran = true;
        // inline: the child is the current task, on its parent's stack
        EXPECT_EQ(home->current, slot);
        EXPECT_EQ(slot->outer.below(), main);
        EXPECT_FALSE(is_private(slot));
        EXPECT_FALSE(slot->context);
        return 6 * 7;
    });
    EXPECT_EQ(fult::detail::handle_access::get(child), slot);
    EXPECT_EQ(home->run.next, slot + 1);
    EXPECT_TRUE(is_private(slot));
    EXPECT_FALSE(is_public(slot));
    EXPECT_EQ(slot->state.load(), busy) << "private: no thread may claim it";
    EXPECT_FALSE(ran);
    EXPECT_FALSE(child.done());

    // join: the byte is cleared, the closure called, the slot given back
    EXPECT_EQ(child.join(), 42);
    EXPECT_TRUE(ran);
    EXPECT_EQ(home->current, main);
    EXPECT_EQ(home->run.next, slot);
    EXPECT_FALSE(is_private(slot));
    expect_at_rest(slot);
}

TEST_F(life_of_a_task, when_it_is_published_and_blocks) {
    task *const slot = home->run.next;
    const stack *mains = home->current_stack();
    const stack *its = nullptr;
    std::atomic<bool> go{false};
    auto child = fult::spawn([&] {
        // started by the worker: on a stack of its own
        EXPECT_EQ(home->current, slot);
        EXPECT_NE(home->current_stack(), mains);
        EXPECT_EQ(slot->outer.below(), nullptr);
        EXPECT_EQ(slot->state.load(), busy);
        EXPECT_FALSE(is_public(slot));
        its = home->current_stack();
        while (!go.load())
            this_task::wait();
        EXPECT_EQ(home->current_stack(), its);
        EXPECT_EQ(slot->context, nullptr) << "it runs";
        return 43;
    });

    // publish: out of the private words, ready, its bit in the public ones
    EXPECT_EQ(home->tasks.publish(), 1u);
    EXPECT_FALSE(is_private(slot));
    EXPECT_TRUE(is_public(slot));
    EXPECT_EQ(slot->state.load(), ready);

    // claim, switch, run, wait: registers saved, then ready
    this_task::yield();
    ASSERT_NE(its, nullptr);
    EXPECT_EQ(slot->state.load(), ready) << "suspended: the finder of its bit may claim it";
    EXPECT_FALSE(is_public(slot)) << "but there is no bit before a signal";
    EXPECT_NE(slot->context, nullptr);
    EXPECT_EQ(slot->stack, its);
    EXPECT_EQ(slot->pending_wakeup.load(), 0u);

    // signal: the bit alone
    go = true;
    const void *context = slot->context;
    signal(child.id());
    EXPECT_TRUE(is_public(slot));
    EXPECT_EQ(slot->state.load(), ready);
    EXPECT_EQ(slot->context, context) << "the descriptor is not touched";

    // resumed, ended: the result waits in the descriptor, the stack is free, the slot is not
    this_task::yield();
    EXPECT_TRUE(child.done());
    EXPECT_EQ(slot->join.load(), join_done);
    EXPECT_EQ(slot->result, result_kind::value);
    EXPECT_EQ(slot->context, nullptr);
    EXPECT_EQ(home->run.next, slot + 1);

    // join takes it
    EXPECT_EQ(child.join(), 43);
    EXPECT_EQ(home->run.next, slot);
    expect_at_rest(slot);
}

TEST_F(life_of_a_task, when_its_parent_waits_for_it) {
    task *const slot = home->run.next;
    bool looked = false;
    auto child = fult::spawn([&] {
        while (slot->join.load() == join_none)
            this_task::yield();
        // the joiner left its name and is parked; its end will signal that name
        EXPECT_EQ(slot->join.load(), join_word::of(to_id(main)));
        EXPECT_EQ(main->state.load(), ready_pinned) << "main stays on worker 0";
        EXPECT_NE(main->context, nullptr);
        looked = true;
    });
    this_task::yield(); // it starts: no inline run any more
    child.join();
    EXPECT_TRUE(looked);
    EXPECT_EQ(main->state.load(), busy);
    EXPECT_EQ(main->context, nullptr);
    expect_at_rest(slot);
}

TEST_F(life_of_a_task, when_it_throws) {
    task *const slot = home->run.next;
    auto child = fult::spawn([] { throw 5; });
    this_task::yield();
    EXPECT_TRUE(child.done());
    EXPECT_EQ(slot->result, result_kind::exception);
    EXPECT_THROW(child.join(), int);
    expect_at_rest(slot);
}

TEST_F(life_of_a_task, when_it_is_not_joined) {
    task *const slot = home->run.next;
    fult::spawn([] {}).detach();
    EXPECT_EQ(slot->join.load(), join_detached);
    EXPECT_TRUE(is_private(slot));
    this_task::yield();
    expect_at_rest(slot);
    EXPECT_EQ(home->run.next, slot) << "its end gave the slot back";
}

TEST_F(life_of_a_task, when_it_yields) {
    task *const slot = home->run.next;
    auto child = fult::spawn([] { this_task::yield(); });
    const auto has_yielded = [&] {
        return (slot_words(home)[slot_of(slot) >> 6].yielded.load() & bit_of(slot_of(slot))) != 0;
    };
    this_task::yield();
    EXPECT_TRUE(has_yielded()) << "private, as main was meanwhile";
    EXPECT_NE(slot->context, nullptr);
    EXPECT_FALSE(is_public(slot));
    child.join();
    EXPECT_FALSE(has_yielded());
    expect_at_rest(slot);
}

TEST_F(life_of_a_task, when_it_is_given_to_a_worker) {
    auto child = fult::spawn_pinned(0, [] { return 1; });
    const task *slot = fult::detail::handle_access::get(child);
    EXPECT_TRUE(home->tasks.pinned().contains(slot_of(slot)));
    EXPECT_FALSE(is_public(slot));
    EXPECT_EQ(slot->state.load(), ready_pinned);
    EXPECT_EQ(child.join(), 1);
    expect_at_rest(slot);
    EXPECT_FALSE(slot->pinned);
}

} // namespace
