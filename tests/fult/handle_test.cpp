#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

struct handle_test : ::testing::Test {
    fult::runtime running{fult::testing::workers(2)};
};

TEST_F(handle_test, is_movable_only) {
    static_assert(std::is_nothrow_move_constructible_v<handle<int>>);
    static_assert(std::is_nothrow_move_assignable_v<handle<int>>);
    static_assert(!std::is_copy_constructible_v<handle<int>>);
    static_assert(!std::is_copy_assignable_v<handle<int>>);
}

TEST_F(handle_test, an_empty_one_owns_nothing) {
    const handle<int> h;
    EXPECT_FALSE(h.valid());
    EXPECT_FALSE(h.done());
    EXPECT_FALSE(static_cast<bool>(h.id()));
}

TEST_F(handle_test, moves_leave_nothing_behind) {
    handle<int> a = spawn([] { return 1; });
    const fult::task_id id = a.id();
    EXPECT_TRUE(static_cast<bool>(id));
    handle<int> b = std::move(a);
    EXPECT_FALSE(a.valid());
    EXPECT_TRUE(b.valid());
    EXPECT_EQ(b.id(), id);
    handle<int> c;
    c = std::move(b);
    EXPECT_FALSE(b.valid());
    EXPECT_EQ(c.join(), 1);
    EXPECT_FALSE(c.valid());
}

TEST_F(handle_test, assignment_lets_the_former_task_go) {
    std::atomic<int> ran{0};
    handle<void> h = spawn([&] { ran.fetch_add(1); });
    h = spawn([&] { ran.fetch_add(10); });
    h.join();
    while (ran.load() < 11)
        this_task::yield();
    EXPECT_EQ(ran.load(), 11);
}

TEST_F(handle_test, self_assignment_keeps_the_task) {
    handle<int> h = spawn([] { return 3; });
    handle<int> &same = h;
    h = std::move(same);
    ASSERT_TRUE(h.valid());
    EXPECT_EQ(h.join(), 3);
}

TEST_F(handle_test, the_destructor_detaches) {
    std::atomic<int> ran{0};
    {
        const auto h = spawn([&] { ++ran; });
    }
    while (ran.load() == 0)
        this_task::yield();
    EXPECT_EQ(ran.load(), 1);
}

TEST_F(handle_test, done_reports_the_end) {
    std::atomic<bool> go{false};
    auto h = spawn([&] {
        while (!go.load())
            this_task::yield();
        return 5;
    });
    this_task::yield();
    EXPECT_FALSE(h.done());
    go = true;
    while (!h.done())
        this_task::yield();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.join(), 5);
    EXPECT_FALSE(h.done());
}

TEST_F(handle_test, a_handle_may_be_joined_by_another_task) {
    auto inner = spawn([] {
        this_task::yield();
        return 20;
    });
    auto outer = spawn([h = std::move(inner)]() mutable { return h.join() + 1; });
    EXPECT_EQ(outer.join(), 21);
}

TEST_F(handle_test, a_handle_is_a_result_too) {
    auto outer = spawn([] { return spawn([] { return std::make_unique<int>(9); }); });
    EXPECT_EQ(*outer.join().join(), 9);
}

// The slot of a task that a thief revoked from its busy parent must be reusable (the revoked bit
// stays in the owner's words until the owner reconciles).
TEST_F(handle_test, slots_of_revoked_tasks_are_used_again) {
    for (std::size_t i = 0; i < fult::testing::scaled(2000); ++i) {
        std::atomic<int> n{0};
        handle<void> first = spawn([&] { n = 1; });
        fult::testing::spin_until([&] { return first.done(); });
        first.join();
        auto second = spawn([&] { n = 2; });
        second.join();
        ASSERT_EQ(n.load(), 2);
    }
}

TEST_F(handle_test, slots_of_detached_revoked_tasks_are_used_again) {
    std::set<std::uint64_t> ids;
    for (std::size_t i = 0; i < fult::testing::scaled(300); ++i) {
        std::atomic<int> n{0};
        for (int round = 1; round <= 4; ++round) { // more tasks than a word has slots
            for (int k = 0; k < 70; ++k) {
                auto h = spawn([&] { n.fetch_add(1); });
                ids.insert(h.id().value());
                h.detach();
            }
            fult::testing::spin_until([&] { return n.load() == 70 * round; });
        }
    }
    EXPECT_LT(ids.size(), 1000u); // of 84,000 tasks, of which 70 live at a time
}

TEST(handle, destroyed_unjoined_is_reported_on_request) {
    for (const bool report : {false, true}) {
        fult::options o = fult::testing::workers(1);
        o.report_detached = report;
        const fult::runtime running(o);
        ::testing::internal::CaptureStderr();
        {
            auto lost = fult::spawn({.name = "lost"}, [] {});
        }
        fult::spawn({.name = "let go"}, [] {}).detach();
        fult::spawn({.name = "joined"}, [] {}).join();
        const std::string said = ::testing::internal::GetCapturedStderr();
        EXPECT_EQ(said.find("'lost' is detached: its handle is destroyed unjoined at ") != std::string::npos,
                  report)
            << said;
        EXPECT_EQ(said.find("let go"), std::string::npos) << said;
        EXPECT_EQ(said.find("joined'"), std::string::npos) << said;
    }
}

} // namespace
