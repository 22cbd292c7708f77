#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <vector>

#include <fult/detail/tied.hpp>
#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/scale.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult;
using fult::testing::scaled;

options with_workers(unsigned workers) {
    options o;
    o.workers = workers;
    return o;
}

const detail::task_ops no_ops{nullptr, nullptr, nullptr};

// Runs `body` tied, on whichever worker the task has started.
template <class Body> void run_tied(const Body &body) {
    if (detail::tie_current()) {
        body();
        detail::untie_current();
    } else {
        const detail::tied_above here(detail::take_slot_for_tied(), &no_ops, nullptr);
        body();
    }
}

// Suspends in several ways, and counts the times that the worker has changed.
void suspend_often(std::atomic<int> &moved, counting_semaphore<> &tokens) {
    const int here = this_task::worker();
    const auto check = [&] { moved += this_task::worker() != here; };
    for (int i = 0; i < 5; ++i) {
        this_task::yield();
        check();
        tokens.acquire();
        tokens.release();
        check();
        auto child = spawn([&] {
            this_task::yield(); // joined inline, it suspends on the tied stack
            return this_task::worker();
        });
        child.join();
        check();
    }
}

TEST(tied, a_tied_task_stays_on_the_worker_where_it_started) {
    for (const unsigned workers : {1u, 2u, 5u}) {
        runtime r(with_workers(workers));
        std::atomic<int> moved{0};
        counting_semaphore<> tokens(2);
        std::vector<handle<void>> tasks;
        for (std::size_t i = 0; i < scaled(500); ++i)
            tasks.push_back(spawn([&] { run_tied([&] { suspend_often(moved, tokens); }); }));
        join_all(tasks);
        EXPECT_EQ(moved, 0) << workers << " workers";
    }
}

TEST(tied, a_stolen_task_is_tied_above_itself) {
    runtime r(with_workers(2));
    std::atomic<bool> stolen{false}, above{false};
    auto task = spawn([&] {
        const bool at_home = detail::tie_current();
        if (at_home) {
            detail::untie_current();
        } else {
            const int here = this_task::worker();
            const task_id outer = this_task::id();
            const detail::tied_above tied(detail::take_slot_for_tied(), &no_ops, nullptr);
            above = this_task::id() != outer && this_task::worker() == here;
            this_task::yield();
            above = above && this_task::worker() == here;
        }
        stolen = !at_home;
        stolen.notify_one();
    });
    fult::testing::spin_until([&] { return task.done(); }); // worker 0 computes: worker 1 takes the task
    task.join();
    EXPECT_TRUE(stolen && above);
}

// The child is joined inline and suspends. Its worker computes when it is signaled; the other one is idle,
// and would resume a child that is not tied.
TEST(tied, an_inline_child_waits_for_its_worker) {
    runtime r(with_workers(2));
    int began = 99, resumed_on = 99;
    std::atomic<bool> resumed{false};
    spawn_pinned(0, [&] {
        run_tied([&] {
            auto child = spawn([&] {
                began = this_task::worker();
                spawn_pinned(0, [&, self = this_task::id()] {
                    signal(self);
                    // time: either order is right
                    const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
                    // time: either order is right
                    while (!resumed && std::chrono::steady_clock::now() < limit)
                        ::sched_yield();
                }).detach();
                this_task::wait();
                resumed = true;
                resumed_on = this_task::worker();
            });
            child.join();
        });
    }).join();
    if (began == 0) { // not stolen before it began
        EXPECT_EQ(resumed_on, 0);
    }
}

TEST(tied, slots_and_stacks_are_ordinary_afterwards) {
    runtime r(with_workers(3));
    for (int round = 0; round < 20; ++round) {
        std::vector<handle<void>> tasks;
        for (int i = 0; i < 100; ++i)
            tasks.push_back(spawn([] { run_tied([] { this_task::yield(); }); }));
        join_all(tasks);
        std::vector<handle<bool>> plain;
        for (int i = 0; i < 100; ++i)
            plain.push_back(spawn([] {
                this_task::yield();
                return (this_task::id().value() & 1) == 0; // the bit of a pinned task
            }));
        for (auto &each : plain)
            EXPECT_TRUE(each.join());
    }
}

} // namespace
