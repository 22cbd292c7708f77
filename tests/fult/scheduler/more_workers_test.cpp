// Workers that a running runtime gets: they run tasks, and theirs are found, as those of the others are.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

#include <fult/detail/more_workers.hpp>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync/sleep.hpp>

#include "fult/scheduler/team.hpp"
#include "fult/scheduler/worker.hpp"
#include "tests/support/asleep.hpp"
#include "tests/support/busy_caller.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
using fult::spawn_pinned;
using fult::detail::add_workers;
using fult::detail::neighbours;
using fult::testing::compute_while_others_run;
using fult::testing::expect_ends;
using fult::testing::scaled;
using fult::testing::spin_until;
using fult::testing::workers;
namespace this_task = fult::this_task;

// A task of `worker` that reaches no scheduling point until others have run what it has spawned.
void compute_on(int worker, int tasks) {
    spawn_pinned(worker, [=] {
        EXPECT_EQ(this_task::worker(), worker);
        compute_while_others_run(tasks, [](auto body) { return spawn(body); });
    }).join();
}

TEST(more_workers, none_without_a_runtime) { EXPECT_EQ(add_workers(3), 0u); }

TEST(more_workers, run_tasks) {
    const fult::runtime running(workers(2));
    EXPECT_EQ(add_workers(1), 2u) << "it keeps those it has";
    EXPECT_EQ(add_workers(5), 5u);
    EXPECT_EQ(fult::worker_count(), 5);
    for (int i = 0; i < 5; ++i)
        spawn_pinned(i, [i] { EXPECT_EQ(this_task::worker(), i); }).join();
    EXPECT_THROW(static_cast<void>(spawn_pinned(5, [] {})), std::out_of_range);
}

// Those that were there first sleep, and have not asked the new one for work.
TEST(more_workers, others_find_their_first_tasks) {
    for (std::size_t round = 0; round < scaled(20); ++round) {
        const fult::runtime running(workers(3));
        expect_ends([] {
            fult::testing::spin_until_asleep(2);
            ASSERT_EQ(add_workers(4), 4u);
            compute_on(3, 20);
        });
    }
}

TEST(more_workers, find_tasks_of_others_and_of_each_other) {
    const fult::runtime running(workers(2));
    for (unsigned count = 3; count <= 8; ++count) {
        ASSERT_EQ(add_workers(count), count);
        for (std::size_t round = 0; round < scaled(10); ++round)
            expect_ends([=] {
                for (unsigned i = 0; i < count; ++i)
                    compute_on(i, 10);
            });
    }
}

// All workers but one compute; the tasks of the last are found by the one that came last.
TEST(more_workers, the_only_idle_one_finds_tasks) {
    const fult::runtime running(workers(3));
    std::atomic<int> busy{0};
    std::atomic<bool> over{false};
    std::vector<fult::handle<void>> all;
    for (unsigned i = 1; i < 3; ++i)
        all.push_back(spawn_pinned(i, [&] {
            busy.fetch_add(1);
            spin_until([&] { return over.load(); });
        }));
    expect_ends([&] {
        spin_until([&] { return busy.load() == 2; });
        ASSERT_EQ(add_workers(4), 4u);
        for (std::size_t round = 0; round < scaled(20); ++round) {
            std::atomic<bool> ran{false};
            auto task = spawn([&] { ran = this_task::worker() == 3; });
            spin_until([&] { return ran.load(); });
            task.join();
        }
    });
    over = true;
    join_all(all);
}

TEST(more_workers, come_while_tasks_run) {
    const fult::runtime running(workers(2));
    std::atomic<bool> over{false};
    std::thread adder([&] {
        for (unsigned count = 3; count <= 16; ++count) {
            EXPECT_EQ(add_workers(count), count);
            std::this_thread::yield();
        }
        over = true;
    });
    std::atomic<std::size_t> ran{0}, spawned{0};
    while (!over.load()) {
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 50; ++i)
            all.push_back(spawn([&] {
                spawn([&] { ran.fetch_add(1); }).join();
                this_task::yield();
            }));
        join_all(all);
        spawned += all.size();
    }
    adder.join();
    EXPECT_EQ(ran.load(), spawned.load());
}

TEST(more_workers, have_timers_and_are_inspected) {
    const fult::runtime running(workers(2));
    // opens the timers, for two
    this_task::sleep_for(std::chrono::microseconds(1)); // time: a lower bound
    ASSERT_EQ(add_workers(6), 6u);
    std::atomic<bool> over{false};
    std::atomic<int> there{0};
    std::vector<fult::handle<void>> all;
    for (unsigned i = 1; i < 6; ++i)
        all.push_back(spawn_pinned(i, [&] {
            this_task::sleep_for(std::chrono::microseconds(10)); // time: a lower bound
            there.fetch_add(1);
            spin_until([&] { return over.load(); });
        }));
    while (there.load() != 5)
        this_task::yield();
    std::set<int> seen;
    fult::visit_tasks([&](const fult::task_description &task) {
        if (task.worker >= 0)
            seen.insert(task.worker);
    });
    EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4, 5}));
    over = true;
    join_all(all);
    fult::trim();
}

TEST(more_workers, join_one_that_was_alone) {
    const fult::runtime running(workers(1));
    for (int i = 0; i < 100; ++i)
        spawn([] { this_task::yield(); }).join();
    ASSERT_EQ(add_workers(3), 3u);
    expect_ends([] {
        for (unsigned i = 0; i < 3; ++i)
            compute_on(i, 10);
    });
}

TEST(more_workers, not_where_the_team_is_not_made_for_them) {
    {
        fult::options o = workers(2);
        o.stealing = false;
        const fult::runtime running(o);
        EXPECT_EQ(add_workers(3), 2u);
    }
    {
        fult::options o = workers(1); // more workers than processors are never bound
        o.bind = fult::bind_mode::on;
        const fult::runtime running(o);
        EXPECT_EQ(add_workers(3), 1u);
    }
}

// A small number of neighbours makes a small team a large one.
class with_few_neighbours : public ::testing::Test {
  protected:
    explicit with_few_neighbours(unsigned few = 1) { neighbours::max_neighbours = few; }
    ~with_few_neighbours() override { neighbours::max_neighbours = most; }
    static bool is_crowd() { return fult::detail::running_team()->crowd.exists(); }
    const unsigned most = neighbours::max_neighbours;
};

// All others compute.
void compute_with_one_idle(int count, int worker, int idle) {
    std::atomic<bool> over{false};
    std::atomic<unsigned> busy{0};
    std::vector<fult::handle<void>> all;
    for (int i = 1; i < count; ++i)
        if (i != worker && i != idle)
            all.push_back(spawn_pinned(i, [&] {
                busy.fetch_add(1);
                spin_until([&] { return over.load(); });
            }));
    const std::size_t there = all.size();
    all.push_back(spawn_pinned(worker, [&] {
        spin_until([&] { return busy.load() == there; });
        std::atomic<unsigned> ran{0};
        std::vector<fult::handle<void>> its;
        for (int i = 0; i < 10; ++i)
            its.push_back(spawn([&] { ran.fetch_add(this_task::worker() == idle); }));
        spin_until([&] { return ran.load() == 10; });
        join_all(its);
        over = true;
    }));
    spin_until([&] { return over.load(); }); // worker 0 is none of those
    join_all(all);
}

TEST_F(with_few_neighbours, each_finds_tasks_of_each) {
    const fult::runtime running(workers(2));
    EXPECT_EQ(add_workers(6), 6u);
    for (unsigned worker = 1; worker < 6; ++worker)
        for (unsigned idle = 1; idle < 6; ++idle)
            if (worker != idle)
                expect_ends([=] { compute_with_one_idle(6, worker, idle); });
}

// A team becomes a crowd when it outgrows the lists of neighbours: here with the fifth worker.
class with_three_neighbours : public with_few_neighbours {
  protected:
    with_three_neighbours() : with_few_neighbours(3) {}
};

TEST_F(with_three_neighbours, a_team_becomes_a_crowd) {
    for (unsigned first = 1; first < 5; ++first) {
        const fult::runtime running(workers(first));
        for (unsigned count = first + 1; count < 10; ++count) {
            ASSERT_EQ(add_workers(count), count);
            EXPECT_EQ(is_crowd(), count > 4);
            expect_ends([=] {
                for (unsigned i = 0; i < count; ++i)
                    compute_on(static_cast<int>(i), 10);
            });
            if (count > 4)
                for (unsigned worker = 1; worker < count; ++worker)
                    expect_ends([=] {
                        compute_with_one_idle(static_cast<int>(count), static_cast<int>(worker),
                                              static_cast<int>(worker % (count - 1) + 1));
                    });
        }
    }
}

// Some sleep, having asked all that there were; others compute, or search.
TEST_F(with_three_neighbours, a_team_becomes_a_crowd_while_workers_sleep) {
    for (std::size_t round = 0; round < scaled(20); ++round) {
        const fult::runtime running(workers(4));
        expect_ends([] {
            fult::testing::spin_until_asleep(3);
            ASSERT_EQ(add_workers(5), 5u);
            ASSERT_TRUE(is_crowd());
            compute_on(4, 20);
            compute_on(1, 20);
        });
    }
}

TEST_F(with_three_neighbours, a_team_becomes_a_crowd_while_tasks_run) {
    for (std::size_t round = 0; round < scaled(20); ++round) {
        const fult::runtime running(workers(2));
        std::atomic<bool> over{false};
        std::thread adder([&] {
            for (unsigned count = 3; count <= 8; ++count) {
                EXPECT_EQ(add_workers(count), count);
                std::this_thread::yield();
            }
            over = true;
        });
        std::size_t before_the_end = 0;
        expect_ends([&] {
            do {
                before_the_end += over.load();
                for (int i = 0; i < fult::worker_count(); ++i)
                    compute_on(i, 10);
            } while (before_the_end < 3);
        });
        adder.join();
    }
}

TEST_F(with_few_neighbours, a_crowd_grows) {
    const fult::runtime running(workers(5));
    ASSERT_TRUE(fult::detail::running_team()->crowd.exists());
    ASSERT_EQ(add_workers(6), 6u);
    for (unsigned worker = 1; worker < 6; ++worker)
        expect_ends([=] { compute_with_one_idle(6, worker, worker % 5 + 1); });
    for (unsigned count = 7; count < 16; ++count)
        expect_ends([=] {
            fult::testing::spin_until_asleep(count - 2);
            ASSERT_EQ(add_workers(count), count);
            for (unsigned i = 0; i < count; ++i)
                compute_on(i, 10);
        });
}

} // namespace
