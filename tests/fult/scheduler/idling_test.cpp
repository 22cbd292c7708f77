// No work is hidden, and no worker beyond the processors searches for it.
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include <fult/fult.hpp>

#include "fult/scheduler/team.hpp"
#include "tests/support/asleep.hpp"
#include "tests/support/busy_caller.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::testing::spin_until;
using fult::testing::workers;
namespace this_task = fult::this_task;

class hidden_work : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, hidden_work, ::testing::Values(2u, 8u));

// The parent reaches no scheduling point before its children have run: only others can run them.
TEST_P(hidden_work, children_of_a_task_that_computes) {
    for (std::size_t round = 0; round < fult::testing::scaled(200); ++round)
        fult::testing::compute_while_others_run(64, [](auto body) { return spawn(body); });
}

TEST_P(hidden_work, tasks_that_yielded_to_one_that_computes) {
    for (std::size_t round = 0; round < fult::testing::scaled(100); ++round) {
        std::atomic<int> started{0}, ended{0};
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 10; ++i)
            all.push_back(spawn([&] {
                started.fetch_add(1);
                this_task::yield();
                ended.fetch_add(1);
            }));
        while (started.load() != 10)
            this_task::yield();
        spin_until([&] { return ended.load() == 10; });
        join_all(all);
        EXPECT_EQ(ended.load(), 10);
    }
}

TEST_P(hidden_work, a_worker_that_waits_for_what_it_hides) {
    // a task of worker 1 spawns, then blocks its kernel thread until the main task has seen the child run
    std::atomic<int> ran_on{-1};
    auto holder = fult::spawn_pinned(1, [&] {
        spawn([&] { ran_on = this_task::worker(); }).detach();
        spin_until([&] { return ran_on.load() >= 0; });
    });
    holder.join(); // this worker has nothing to do meanwhile
    EXPECT_NE(ran_on.load(), 1);
}

TEST_P(hidden_work, several_generations) {
    for (int round = 0; round < 20; ++round)
        fult::testing::compute_while_others_run_generations();
}

// While a search lasts, only as many workers search as there are processors for them. A search without an end
// shows it: where all searched, they would not sleep before the hour is over.
TEST(idle, workers_beyond_the_processors_sleep_at_once) {
    fult::options o =
        workers(fult::testing::under_valgrind() ? 16 : 32); // its address space holds no more tables
    o.idle_spin = 0;
    const fult::runtime running(o);
    fult::detail::worker_team &team = *fult::detail::running_team();
    if (team.processors >= team.count() / 2)
        GTEST_SKIP() << "not so many workers";
    fult::testing::spin_until_asleep(team.count() - 1);
    team.opts.idle_spin = ~0u; // no worker reads it: a search does when it begins
    std::vector<fult::handle<void>> all;
    for (unsigned i = 1; i < team.count(); ++i)
        all.push_back(fult::spawn_pinned(i, [] {}));
    for (const auto &each : all)
        spin_until([&] { return each.done(); }); // main computes here
    fult::testing::expect_ends([&] { fult::testing::spin_until_asleep(team.count() - 1 - team.processors); });
    join_all(all);
}

} // namespace
