// The operations on all sources of work, with sources of this test.
#include <cstddef>
#include <gtest/gtest.h>
#include <string>

#include "fult/scheduler/work_sources.hpp"
#include "fult/scheduler/worker.hpp"
#include "tests/support/home.hpp"

namespace {

using namespace fult::detail;

// A source with `count` tasks: all are this descriptor.
template <int Number> struct with_tasks : own_source {
    task *one = nullptr;
    int count = 0;
    task *take_one() noexcept { return count > 0 ? (--count, one) : nullptr; }
    task *take(worker &, bool) noexcept { return take_one(); }
    task *take_fair(worker &) noexcept { return take_one(); }
    bool may_have_any(worker &) const noexcept { return count > 0; }
};
struct urgent : with_tasks<1> {
    static constexpr bool is_at_once = true;
    static constexpr bool runs_soon = true;
    task *take_at_once(worker &) noexcept { return take_one(); }
    static task *take(worker &, bool) noexcept { return nullptr; }
    bool may_have_stealable(const worker &) const noexcept { return count > 0; }
};
struct near : with_tasks<2> {
    static constexpr bool reads_own_lines = true;
    task *take_started(worker &) noexcept { return take_one(); }
};
struct sooner : preferred_source {
    near *from = nullptr;
    task *take(worker &, bool yielding) noexcept { return yielding ? nullptr : from->take_one(); }
};
struct last : with_tasks<3> {
    task *take_started(worker &) noexcept { return take_one(); }
    bool may_have_stealable(const worker &) const noexcept { return count > 0; }
};
struct elsewhere : other_source {
    static constexpr bool has_no_worker = true;
    task *one = nullptr;
    int count = 0, soon = 0;
    task *steal(worker &) noexcept { return count > 0 ? (--count, one) : nullptr; }
    task *take_fair(worker &here) noexcept { return steal(here); }
    bool may_have_elsewhere(worker &, bool soon_too) const noexcept {
        return count > 0 || (soon_too && soon > 0);
    }
};

// A source without a sweep is not accepted: tasks there could wait forever.
struct without_sweep : own_source {
    static bool may_have_any(worker &) noexcept { return false; }
};
template <class Source>
concept has_sweep = requires(Source &s, worker &here) {
    s.take_fair(here);
};
static_assert(!has_sweep<without_sweep> && without_sweep::in_rotation);
static_assert(has_sweep<handed_off_chain> && has_sweep<unstarted_tasks> && has_sweep<hidden_tasks>);
static_assert(!interrupted_tasks::in_rotation && !unstarted_for_yield::in_rotation);

struct work_sources_test : ::testing::Test {
    fult::testing::bare_home home;
    source_list<urgent, sooner, near, last, elsewhere> all;
    worker &here = *static_cast<worker *>(home.hot()); // the sources do not read it

    work_sources_test() {
        all.get<urgent>().one = home.task_at(1);
        all.get<near>().one = home.task_at(2);
        all.get<last>().one = home.task_at(3);
        all.get<elsewhere>().one = home.task_at(4);
        all.get<sooner>().from = &all.get<near>();
    }
    void fill(int urgents, int nears, int lasts, int elsewheres) {
        all.get<urgent>().count = urgents;
        all.get<near>().count = nears;
        all.get<last>().count = lasts;
        all.get<elsewhere>().count = elsewheres;
    }
    static std::string name_of(const task *t) { return t ? std::to_string(slot_of(t)) : "-"; }
    template <class Take> static std::string sequence(std::size_t count, const Take &take) {
        std::string names;
        while (names.size() < count)
            names += name_of(take());
        return names;
    }
};

TEST_F(work_sources_test, decisions_take_in_the_order_of_the_list) {
    fill(1, 2, 1, 1);
    EXPECT_EQ(sequence(4, [&] { return all.take(here, true); }), "223-"); // urgent tasks are not taken here
    EXPECT_EQ(sequence(2, [&] { return all.take_at_once(here); }), "1-");
    EXPECT_EQ(sequence(2, [&] { return all.steal(here); }), "4-");
    EXPECT_EQ(all.steal_stalled(here), nullptr);
}

TEST_F(work_sources_test, a_preferred_source_comes_sooner) {
    fill(0, 1, 1, 0);
    EXPECT_EQ(sequence(3, [&] { return all.take(here, false); }), "23-");
}

TEST_F(work_sources_test, fairness_gives_each_source_a_turn) {
    ASSERT_EQ(all.turns, 4u);
    fill(9, 9, 9, 9);
    EXPECT_EQ(sequence(8, [&] { return all.take_fair(here); }), "12341234");
    fill(1, 0, 9, 0);
    EXPECT_EQ(sequence(4, [&] { return all.take_fair(here); }), "1333"); // an empty source is passed over
    fill(0, 0, 0, 0);
    EXPECT_EQ(all.take_fair(here), nullptr);
}

TEST_F(work_sources_test, a_turn_may_be_set_or_left_out) {
    fill(9, 9, 9, 9);
    all.set_turn<last>();
    EXPECT_EQ(sequence(3, [&] { return all.take_fair(here); }), "341");
    all.set_turn<urgent>();
    EXPECT_EQ(sequence(4, [&] { return all.take_fair_except<near>(here); }), "1341");
}

TEST_F(work_sources_test, started_tasks_from_a_source_on) {
    fill(9, 1, 1, 9);
    EXPECT_EQ(sequence(3, [&] { return all.take_started_from<last>(here); }), "32-");
    fill(9, 1, 1, 9);
    EXPECT_EQ(sequence(3, [&] { return all.take_started_from<near>(here); }), "23-");
}

TEST_F(work_sources_test, may_there_be_work) {
    fill(0, 0, 0, 1);
    EXPECT_FALSE(all.may_have_any(here));
    EXPECT_TRUE(all.may_have_elsewhere(here, false) && all.may_have_without_worker(here));
    fill(0, 0, 1, 0);
    EXPECT_TRUE(all.may_have_any(here) && all.may_have_stealable(here, false));
    EXPECT_FALSE(all.may_have_in_own_lines(here) || all.may_have_at_once(here));
    fill(0, 1, 0, 0);
    EXPECT_TRUE(all.may_have_any(here) && all.may_have_in_own_lines(here));
    EXPECT_FALSE(all.may_have_at_once(here) || all.may_have_stealable(here, true));
    fill(1, 0, 0, 0);
    EXPECT_TRUE(all.may_have_any(here) && all.may_have_at_once(here) && all.may_have_stealable(here, true));
    EXPECT_FALSE(all.may_have_stealable(here, false)) << "its worker is about to run it";
    EXPECT_FALSE(all.may_have_elsewhere(here, true));
    all.get<elsewhere>().soon = 1;
    EXPECT_TRUE(all.may_have_elsewhere(here, true));
    EXPECT_FALSE(all.may_have_elsewhere(here, false));
}

} // namespace
