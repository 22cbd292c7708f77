// Signals against every state that a task can be in.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

class signals : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, signals, ::testing::Values(1u, 2u, 8u));

// Two pinned tasks throw a ball to each other.
TEST_P(signals, ping_pong_between_pinned_tasks) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    const long rounds = static_cast<long>(fult::testing::scaled(GetParam() <= 2 ? 10000 : 5000));
    std::atomic<long> ball{0};
    std::atomic<std::uintptr_t> names[2]{};
    const auto player = [&](unsigned me) {
        names[me] = this_task::id().value();
        while (names[1 - me].load() == 0)
            this_task::yield();
        for (long i = me; i < 2 * rounds; i += 2) {
            this_task::wait([&] { return ball.load(std::memory_order_acquire) == i; });
            ball.store(i + 1, std::memory_order_release);
            signal(fult::task_id::from_value(names[1 - me].load()));
        }
    };
    auto a = fult::spawn_pinned(0, player, 0u);
    auto b = fult::spawn_pinned(GetParam() - 1, player, 1u);
    join_all(a, b);
    EXPECT_EQ(ball.load(), 2 * rounds);
}

// Each counts its grants; a lost grant would leave a receiver waiting.
TEST_P(signals, foreign_signalers) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    constexpr unsigned receivers = 16;
    const long grants = static_cast<long>(fult::testing::scaled(20000));
    std::atomic<long> given[receivers]{};
    std::vector<handle<long>> all;
    std::vector<fult::task_id> ids;
    for (unsigned i = 0; i < receivers; ++i) {
        all.push_back(spawn([&given, i, grants] {
            long taken = 0;
            while (taken < grants) {
                while (given[i].load() == taken)
                    this_task::wait();
                taken = given[i].load();
                if (taken % 3 == 0)
                    this_task::yield();
            }
            return taken;
        }));
        ids.push_back(all.back().id());
    }
    std::vector<std::thread> signalers;
    for (unsigned half = 0; half < 2; ++half)
        signalers.emplace_back([&, half] {
            for (long g = 0; g < grants; ++g)
                for (unsigned i = half; i < receivers; i += 2) {
                    given[i].fetch_add(1);
                    signal(ids[i]);
                }
        });
    for (handle<long> &each : all)
        EXPECT_EQ(each.join(), grants);
    for (std::thread &each : signalers)
        each.join();
}

TEST_P(signals, to_tasks_that_yield) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    constexpr unsigned count = 8;
    std::atomic<unsigned> over{0};
    std::atomic<long> turns{0};
    std::vector<handle<void>> all;
    std::vector<fult::task_id> ids;
    const int rounds = static_cast<int>(fult::testing::scaled(GetParam() <= 2 ? 20000 : 3000));
    for (unsigned i = 0; i < count; ++i) {
        all.push_back(spawn([&] {
            for (int n = 0; n < rounds; ++n) {
                this_task::yield();
                turns.fetch_add(1);
            }
            over.fetch_add(1);
        }));
        ids.push_back(all.back().id());
    }
    while (over.load() != count) {
        for (const fult::task_id id : ids) // they have not been joined: their names are theirs
            signal(id);
        this_task::yield();
    }
    join_all(all);
    EXPECT_EQ(turns.load(), static_cast<long>(count) * rounds);
}

TEST_P(signals, foreign_spawners) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    std::atomic<long> ran{0};
    std::atomic<int> over{0};
    const long count = static_cast<long>(fult::testing::scaled(20000));
    std::vector<std::thread> spawners;
    for (int s = 0; s < 3; ++s)
        spawners.emplace_back([&, s] {
            for (long i = 0; i < count; ++i) {
                auto h = spawn([&] { ran.fetch_add(1); });
                if (i % 16 == s)
                    h.join();
            }
            over.fetch_add(1);
        });
    while (over.load() != 3)
        this_task::yield();
    for (std::thread &each : spawners)
        each.join();
    while (ran.load() < 3 * count)
        this_task::yield();
    EXPECT_EQ(ran.load(), 3 * count);
}

} // namespace
