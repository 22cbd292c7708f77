// Tasks that do anything at random: spawn, yield, wait, signal, join, detach, on any worker. Checked:
// each task runs once, each join brings its own child's result, each wait that is granted ends.
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

struct load {
    static constexpr unsigned names = 64;
    std::atomic<std::uintptr_t>
        living[names]{}; // some tasks' names, perhaps stale: signals to them are spurious at worst
    std::atomic<long> spawned{0}, ended{0};
    std::atomic<long> wrong{0};

    void signal_at_random(std::mt19937_64 &random) {
        if (const std::uintptr_t name = living[random() % names].load())
            signal(fult::task_id::from_value(name));
    }

    // A task's join returns its number.
    std::uint64_t act(std::uint64_t seed, int depth) {
        std::mt19937_64 random(seed);
        living[random() % names] = this_task::id().value();
        const unsigned steps = 1 + random() % 6;
        for (unsigned i = 0; i < steps; ++i)
            step(random, depth);
        ended.fetch_add(1);
        return seed;
    }

    handle<std::uint64_t> child(std::mt19937_64 &random, int depth, std::uint64_t seed) {
        spawned.fetch_add(1);
        const auto body = [this, seed, depth] { return act(seed, depth - 1); };
        const auto some_worker = static_cast<int>(random() % static_cast<unsigned>(fult::worker_count()));
        switch (random() % 8) {
        case 0:
            return fult::spawn_on(some_worker, body);
        case 1:
            return fult::spawn_pinned(some_worker, body);
        case 2:
            return spawn({.name = "sized", .stack_size = 300 * 1024}, body);
        default:
            return spawn(body);
        }
    }

    void step(std::mt19937_64 &random, int depth) {
        signal_at_random(random);
        switch (random() % 8) {
        case 0:
        case 1:
            this_task::yield();
            break;
        case 2: { // wait for a grant that another task gives
            const auto granted = std::make_shared<std::atomic<bool>>(false);
            const fult::task_id me = this_task::id();
            spawned.fetch_add(1);
            auto granter = [this, granted, me] {
                *granted = true;
                signal(me);
                ended.fetch_add(1);
            };
            random() % 2
                ? spawn(granter).detach()
                : fult::spawn_on(static_cast<int>(random() % static_cast<unsigned>(fult::worker_count())),
                                 granter)
                      .detach();
            if (random() % 2)
                this_task::wait([&] { return granted->load(); });
            else
                while (!granted->load())
                    this_task::wait();
            break;
        }
        case 3:
        case 4: // one child
            if (depth > 0) {
                const std::uint64_t seed = random();
                auto h = child(random, depth, seed);
                if (random() % 2)
                    this_task::yield();
                wrong += h.join() == seed ? 0 : 1;
            }
            break;
        case 5: // many children
            if (depth > 0) {
                std::vector<handle<std::uint64_t>> all;
                std::vector<std::uint64_t> seeds;
                const unsigned count = random() % 12;
                for (unsigned i = 0; i < count; ++i) {
                    seeds.push_back(random());
                    all.push_back(child(random, depth, seeds.back()));
                }
                if (random() % 2)
                    wait_all(all);
                for (unsigned i = 0; i < count; ++i)
                    wrong += all[i].join() == seeds[i] ? 0 : 1;
            }
            break;
        case 6: // a child that another task joins
            if (depth > 0) {
                const std::uint64_t seed = random();
                auto h = child(random, depth, seed);
                spawned.fetch_add(1);
                spawn([this, seed, h = std::move(h)]() mutable {
                    wrong += h.join() == seed ? 0 : 1;
                    ended.fetch_add(1);
                }).detach();
            }
            break;
        default: // a child that is not joined
            if (depth > 0)
                child(random, depth, random()).detach();
            break;
        }
    }
};

class random_load : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, random_load, ::testing::Values(1u, 2u, 8u));

void run(load &l, std::uint64_t seed, const fult::options &opts, bool with_foreigners) {
    auto random = fult::testing::seeded(seed);
    const fult::runtime running(opts);
    std::atomic<bool> over{false};
    std::vector<std::thread> foreigners;
    if (with_foreigners)
        for (int i = 0; i < 2; ++i)
            foreigners.emplace_back([&l, &over, s = random()] {
                std::mt19937_64 mine(s);
                while (!over.load()) {
                    l.signal_at_random(mine);
                    if (mine() % 64 == 0) {
                        const std::uint64_t number = mine();
                        l.spawned.fetch_add(1);
                        auto h = spawn([&l, number] { return l.act(number, 1); });
                        if (mine() % 2)
                            l.wrong += h.join() == number ? 0 : 1;
                    }
                    ::sched_yield();
                }
            });
    for (std::size_t i = 0; i < fult::testing::scaled(120); ++i) {
        const std::uint64_t number = random();
        l.spawned.fetch_add(1);
        auto h = spawn([&l, number] { return l.act(number, 4); });
        if (i % 2) {
            l.wrong += h.join() == number ? 0 : 1;
        } else {
            h.detach();
            this_task::yield();
        }
    }
    while (l.ended.load() != l.spawned.load() && !with_foreigners)
        this_task::yield();
    over = true;
    while (!foreigners.empty()) {
        // a foreign thread may be blocked in a join: let tasks run until it is not
        std::atomic<bool> joined{false};
        std::thread joiner([&] {
            foreigners.back().join();
            joined = true;
        });
        while (!joined.load())
            this_task::yield();
        joiner.join();
        foreigners.pop_back();
    }
}

TEST_P(random_load, all_that_is_spawned_ends) {
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
        auto l = std::make_unique<load>();
        run(*l, seed, fult::testing::workers(GetParam()), false);
        EXPECT_EQ(l->ended.load(), l->spawned.load());
        EXPECT_EQ(l->wrong.load(), 0);
    }
}

TEST_P(random_load, with_foreign_threads) {
    for (const std::uint64_t seed : {11u, 12u}) {
        auto l = std::make_unique<load>();
        run(*l, seed, fult::testing::workers(GetParam()), true);
        EXPECT_EQ(l->ended.load(), l->spawned.load());
        EXPECT_EQ(l->wrong.load(), 0);
    }
}

TEST_P(random_load, in_other_modes) {
    for (int mode = 0; mode < 4; ++mode) {
        fult::options o = fult::testing::workers(GetParam());
        switch (mode) {
        case 0:
            o.private_words = false;
            break;
        case 1:
            o.order = fult::spawn_order::breadth_first;
            break;
        case 2:
            o.stealing = false;
            break;
        default:
            o.idle_spin = 0;
            o.stacks_kept = 0;
            break;
        }
        auto l = std::make_unique<load>();
        run(*l, 100 + static_cast<std::uint64_t>(mode), o, mode % 2 == 0);
        EXPECT_EQ(l->ended.load(), l->spawned.load());
        EXPECT_EQ(l->wrong.load(), 0);
    }
}

} // namespace
