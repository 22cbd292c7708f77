// No work is hidden, and no worker spins for long without any.
#include <atomic>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "fult/scheduler/team.hpp"
#include "tests/support/asleep.hpp"
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
    for (std::size_t round = 0; round < fult::testing::scaled(200); ++round) {
        std::atomic<int> ran{0};
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 64; ++i)
            all.push_back(spawn([&] {
                EXPECT_NE(this_task::worker(), 0u);
                ran.fetch_add(1);
            }));
        spin_until([&] { return ran.load() == 64; });
        join_all(all);
    }
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
        spawn([&] { ran_on = static_cast<int>(this_task::worker()); }).detach();
        spin_until([&] { return ran_on.load() >= 0; });
    });
    holder.join(); // this worker has nothing to do meanwhile
    EXPECT_NE(ran_on.load(), 1);
}

TEST_P(hidden_work, several_generations) {
    std::atomic<int> ran{0};
    constexpr int each = 20;
    for (int round = 0; round < 20; ++round) {
        ran = 0;
        spawn([&] {
            for (int i = 0; i < each; ++i)
                spawn([&] {
                    for (int k = 0; k < each; ++k)
                        spawn([&] { ran.fetch_add(1); }).detach();
                    ran.fetch_add(1);
                }).detach();
        }).detach();
        spin_until([&] { return ran.load() >= each + each * each; });
        EXPECT_EQ(ran.load(), each + each * each);
    }
}

double cpu_seconds() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// The elapsed time does not matter, only the processor time of the workers.
// While a search lasts for a second, only as many workers search as there are processors for them.
TEST(idle, workers_beyond_the_processors_sleep_at_once) {
    if (fult::testing::emulated())
        GTEST_SKIP() << "starting the workers takes as long as they would spin";
    constexpr auto look = std::chrono::seconds(1);
    fult::options o =
        workers(fult::testing::under_valgrind() ? 16 : 32); // its address space holds no more tables
    o.idle_spin = 1'000'000;
    bool slept = false;
    for (int attempt = 0; attempt < 5 && !slept; ++attempt) { // a start may be slow on a busy machine
        const auto start = std::chrono::steady_clock::now();
        const fult::runtime running(o);
        const fult::detail::worker_team &team = *fult::detail::running_team();
        if (team.processors >= team.count / 2)
            GTEST_SKIP() << "not so many workers";
        const unsigned most_awake = 1 + team.processors; // main computes here
        do
            slept = team.asleep.count() >= team.count - most_awake;
        while (!slept && std::chrono::steady_clock::now() - start < look);
    }
    EXPECT_TRUE(slept);
}

TEST(idle, workers_sleep) {
    if (fult::testing::under_valgrind() || fult::testing::sanitized)
        GTEST_SKIP() << "the tools' own threads use time";
    const fult::runtime running(workers(4));
    spawn([] {}).join();
    const fult::task_id me = this_task::id();
    double used = 0;
    std::atomic<bool> over{false};
    std::thread foreign([&] {
        fult::testing::spin_until_asleep(4);
        used = cpu_seconds();
        std::this_thread::sleep_for(std::chrono::milliseconds(500)); // the time that is measured
        used = cpu_seconds() - used;
        over = true;
        signal(me);
    });
    while (!over.load())
        this_task::wait();
    foreign.join();
    EXPECT_LT(used, 0.02) << "seconds of processor time in half a second of idling";
}

} // namespace
