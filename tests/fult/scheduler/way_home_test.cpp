// A task that a pinned task joins inline may resume elsewhere; the pinned task itself never does.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>
#include <fult/task_group.hpp>
#include <fult/task_local.hpp>

#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::spawn_pinned;
using fult::testing::workers;
namespace this_task = fult::this_task;

// Computes, without a scheduling decision.
void compute_until(const std::atomic<bool> &over) {
    fult::testing::spin_until([&] { return over.load(); });
}

// A task joined in place on worker `home` suspends; then that worker computes until the task has resumed.
template <class Join> void block_in_place(int home, const Join &join) {
    const int other = 1 - home;
    std::atomic<bool> computing{false}, started{false}, resumed{false}, go{false};
    auto busy = spawn_pinned(other, [&] { // no worker steals the child before it starts
        computing = true;
        compute_until(started);
    });
    while (!computing)
        this_task::yield();
    int began_on = 99, went_on_on = 99;
    join([&] {
        began_on = this_task::worker();
        const fult::task_id self = this_task::id();
        spawn_pinned(home, [&, self] {
            go = true;
            fult::signal(self);
            compute_until(resumed);
        }).detach();
        started = true;
        while (!go)
            this_task::wait();
        went_on_on = this_task::worker();
        resumed = true;
    });
    EXPECT_EQ(this_task::worker(), home);
    EXPECT_EQ(began_on, home);
    EXPECT_EQ(went_on_on, other);
    busy.join();
}

TEST(way_home, a_task_in_place_of_main_goes_on_while_its_worker_computes) {
    const runtime running(workers(2));
    for (int round = 0; round < 3; ++round) {
        block_in_place(0, [](const auto &body) { spawn(body).join(); });
        block_in_place(0, [](const auto &body) { // deeper, below joins that do not suspend
            spawn([&] { spawn([&] { spawn(body).join(); }).join(); }).join();
        });
        block_in_place(0, [](const auto &body) {
            fult::task_group group;
            group.spawn(body);
            group.wait();
        });
        block_in_place(0, [](const auto &body) {
            auto child = spawn({.name = "named"}, body); // public: the slow way to run it in place
            child.join();
        });
        block_in_place(0, [](const auto &body) {
            EXPECT_THROW(spawn([&] {
                             body();
                             throw std::runtime_error("from elsewhere");
                         }).join(),
                         std::runtime_error);
        });
    }
}

TEST(way_home, the_same_for_a_task_pinned_to_another_worker) {
    const runtime running(workers(2));
    for (int round = 0; round < 3; ++round)
        spawn_pinned(1, [] { block_in_place(1, [](const auto &body) { spawn(body).join(); }); }).join();
}

TEST(way_home, locals_end_before_the_pinned_task_goes_on) {
    static std::atomic<int> ended{0};
    struct counted {
        ~counted() {
            this_task::yield();
            ++ended;
        }
    };
    static fult::task_local<counted> local;
    const runtime running(workers(2));
    block_in_place(0, [](const auto &body) {
        spawn([&] {
            body();
            local.get();
        }).join();
        EXPECT_EQ(ended, 1);
    });
}

// Pinned tasks join trees in place whose tasks suspend in every way, at random.
struct tree {
    fult::qlock lock;
    std::atomic<long> sum{0};

    void grow(unsigned depth, std::uint64_t random) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const auto below = [this, depth, random](unsigned n) {
            if (depth > 0)
                grow(depth - 1, random + n);
        };
        auto first = spawn(below, 1u), second = spawn(below, 2u);
        switch (random >> 61) {
        case 0:
            this_task::yield();
            break;
        case 1:
            this_task::sleep_for(std::chrono::microseconds(1)); // time: either order is right
            break;
        case 2: {
            const std::lock_guard held(lock);
            this_task::yield();
            break;
        }
        case 3: {
            fult::task_group group;
            group.spawn([&] { this_task::yield(); });
            group.wait();
            break;
        }
        default:
            break;
        }
        second.join();
        first.join();
        ++sum;
    }
};

TEST(way_home, pinned_tasks_stay_while_their_trees_move) {
    const runtime running(workers(3));
    tree all;
    constexpr unsigned depth = 5, tasks = (1u << (depth + 1)) - 1;
    const auto rounds = static_cast<unsigned>(fult::testing::scaled(60));
    const auto plant = [&](int worker) {
        for (unsigned i = 0; i < rounds; ++i) {
            all.grow(depth, i * 3 + worker);
            spawn([&] { all.grow(depth, i); }).join();
            EXPECT_EQ(this_task::worker(), worker);
        }
    };
    std::vector<fult::handle<void>> planted;
    for (int i = 0; i < 6; ++i)
        planted.push_back(spawn_pinned(i % 3, plant, i % 3));
    plant(0);
    fult::join_all(planted);
    EXPECT_EQ(all.sum, 7L * rounds * 2 * tasks);
}

} // namespace
