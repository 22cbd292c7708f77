#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/restarting_test.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::task_group;
namespace this_task = fult::this_task;

// The last three have no private tasks, which a wait could reclaim: each spawn is visible at once.
enum class setting { one_worker, two_workers, three_workers, public_words, public_words_alone, spawn_sites };

fult::options options_of(setting what) {
    const unsigned counts[] = {1, 2, 3, 2, 1, 2};
    fult::options o = fult::testing::workers(counts[static_cast<int>(what)]);
    o.private_words = what != setting::public_words && what != setting::public_words_alone;
    o.spawn_sites = what == setting::spawn_sites;
    return o;
}

class task_group_test : public ::testing::TestWithParam<setting> {
  protected:
    fult::runtime running{options_of(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, task_group_test,
                         ::testing::Values(setting::one_worker, setting::two_workers, setting::three_workers,
                                           setting::public_words, setting::public_words_alone,
                                           setting::spawn_sites));

TEST_P(task_group_test, waits_for_all_and_may_be_used_again) {
    std::atomic<int> sum{0};
    task_group group;
    for (int round = 0; round < 3; ++round) {
        for (int i = 1; i <= 200; ++i)
            group.spawn([&, i] {
                for (int k = 0; k < i % 3; ++k)
                    this_task::yield();
                sum.fetch_add(i);
            });
        group.wait();
        EXPECT_EQ(sum.exchange(0), 200 * 201 / 2);
        group.wait(); // nothing is left
    }
}

TEST_P(task_group_test, the_destructor_waits) {
    std::atomic<int> ended{0};
    {
        task_group group;
        for (int i = 0; i < 20; ++i)
            group.spawn([&] {
                this_task::yield();
                ++ended;
            });
    }
    EXPECT_EQ(ended, 20);
    task_group empty;
}

TEST_P(task_group_test, arguments_and_large_callables) {
    std::atomic<long> sum{0};
    std::array<long, 40> big{};
    big.back() = 5;
    task_group group;
    group.spawn([&](long a, const std::string &b) { sum += a + long(b.size()); }, 3L, std::string("four"));
    group.spawn([&, big] { sum += big.back(); });
    group.spawn(
        [&, big](const std::stop_token &stop, long a) { sum += big.back() + a + stop.stop_requested(); }, 1L);
    group.spawn({.name = "named", .stack_size = 128 * 1024}, [&] { sum += long(this_task::name().size()); });
    group.spawn({.worker = fult::worker_count() - 1, .pinned = true},
                [&] { sum += this_task::worker() == fult::worker_count() - 1; });
    EXPECT_THROW(group.spawn({.worker = 1000}, [] {}), std::out_of_range);
    group.wait();
    EXPECT_EQ(sum, 7 + 5 + 6 + 5 + 1);
}

void walk(task_group &group, std::atomic<int> &leaves, int depth) {
    if (depth == 0) {
        ++leaves;
        return;
    }
    for (int i = 0; i < 2; ++i)
        group.spawn([&, depth] { walk(group, leaves, depth - 1); });
    if (depth % 3 == 0)
        this_task::yield();
}

TEST_P(task_group_test, tasks_spawn_into_their_group) {
    const int depth = fult::testing::sanitized ? 8 : 13;
    for (int round = 0; round < 3; ++round) {
        std::atomic<int> leaves{0};
        task_group group;
        group.spawn([&] { walk(group, leaves, depth); });
        group.wait();
        EXPECT_EQ(leaves, 1 << depth);
    }
}

TEST_P(task_group_test, groups_nest) {
    std::function<int(int)> count = [&](int depth) {
        if (depth == 0)
            return 1;
        std::array<int, 3> below{};
        task_group group;
        for (int &each : below)
            group.spawn([&] { each = count(depth - 1); });
        group.wait();
        return below[0] + below[1] + below[2];
    };
    EXPECT_EQ(count(5), 243);
}

TEST_P(task_group_test, the_first_exception_stops_the_rest_and_is_rethrown) {
    for (int round = 0; round < 20; ++round) {
        fult::event never;
        std::atomic<int> stopped{0};
        task_group group;
        for (int i = 0; i < 5; ++i)
            group.spawn([&](const std::stop_token &stop) {
                EXPECT_FALSE(never.wait(stop));
                ++stopped;
            });
        for (int i = 0; i < 5; ++i)
            group.spawn([&](std::stop_token stop) {
                this_task::wait(stop, [] { return false; });
                ++stopped;
                throw std::logic_error("a late one");
            });
        while (stopped == 0 && round % 2 == 0 && !group.stop_requested()) {
            this_task::yield(); // some wait by now
            group.spawn([] { throw std::runtime_error("the first one"); });
        }
        if (round % 2 != 0)
            group.spawn([] { throw std::runtime_error("the first one"); });
        try {
            group.wait();
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error &error) {
            EXPECT_STREQ(error.what(), "the first one");
        }
        EXPECT_FALSE(group.stop_requested());
        int again = 0;
        group.spawn([&](const std::stop_token &stop) { again = stop.stop_requested() ? 2 : 1; });
        group.wait();
        EXPECT_EQ(again, 1);
    }
}

TEST_P(task_group_test, what_has_not_begun_is_not_called_but_destroyed) {
    int calls = 0;
    auto counted = std::make_shared<int>();
    task_group group;
    group.request_stop();
    EXPECT_TRUE(group.stop_requested());
    EXPECT_TRUE(group.get_stop_token().stop_requested());
    for (int i = 0; i < 10; ++i)
        group.spawn([&calls, counted] { ++calls; });
    group.wait();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(task_group_test, a_stop_request_ends_waits) {
    fult::qlock lock;
    fult::shared_qlock shared;
    lock.lock();
    shared.lock();
    std::atomic<int> begun{0}, ended{0};
    task_group group;
    const auto start = [&](auto wait) {
        group.spawn([&, wait](const std::stop_token &stop) {
            ++begun;
            ended += !wait(stop);
        });
    };
    start([&](const std::stop_token &stop) { return lock.lock(stop); });
    start([&](const std::stop_token &stop) { return shared.lock(stop); });
    start([&](const std::stop_token &stop) { return shared.lock_shared(stop); });
    start([&](const std::stop_token &stop) { return this_task::wait(stop, [] { return false; }); });
    start([&](const std::stop_token &stop) { return !this_task::wait(stop, [] { return true; }); });
    while (begun < 5) // what has not begun is not called
        this_task::yield();
    group.request_stop();
    group.wait();
    EXPECT_EQ(ended, 5);
    shared.unlock();
    lock.unlock();
    EXPECT_TRUE(lock.lock(std::stop_token()));
    lock.unlock();
}

TEST_P(task_group_test, a_parents_stop_reaches_the_groups_below) {
    std::atomic<int> begun{0}, stopped{0};
    task_group outer;
    for (int i = 0; i < 3; ++i)
        outer.spawn([&](const std::stop_token &parent) {
            task_group inner(parent);
            for (int k = 0; k < 3; ++k)
                inner.spawn([&](const std::stop_token &stop) {
                    ++begun;
                    stopped += !this_task::wait(stop, [] { return false; });
                });
            inner.wait();
            EXPECT_TRUE(parent.stop_requested() && inner.stop_requested()); // also after a new beginning
            task_group late(parent);
            EXPECT_TRUE(late.stop_requested());
            stopped += 100;
        });
    while (begun < 9)
        this_task::yield();
    outer.request_stop();
    outer.wait();
    EXPECT_EQ(stopped, 309);
}

TEST_P(task_group_test, an_exception_of_the_body_stops_the_tasks) {
    std::atomic<int> stopped{0};
    try {
        task_group group;
        for (int i = 0; i < 4; ++i)
            group.spawn([&](const std::stop_token &stop) {
                this_task::wait(stop, [] { return false; });
                ++stopped;
                throw std::logic_error("dropped");
            });
        for (int i = 0; i < 10; ++i)
            this_task::yield();
        throw std::runtime_error("the body's");
    } catch (const std::runtime_error &error) {
        EXPECT_STREQ(error.what(), "the body's");
    }
    EXPECT_LE(stopped, 4);
}

TEST_P(task_group_test, a_wait_in_a_handler_hides_the_exception_from_the_tasks) {
    std::atomic<int> clean{0};
    const auto look = [&] { clean += !std::current_exception() && std::uncaught_exceptions() == 0; };
    try {
        throw std::runtime_error("handled");
    } catch (const std::runtime_error &error) {
        task_group group;
        for (int i = 0; i < 10; ++i)
            group.spawn([&, i] {
                look();
                if (i % 3 == 0)
                    this_task::yield();
                look();
            });
        group.wait();
        EXPECT_STREQ(error.what(), "handled");
        EXPECT_TRUE(std::current_exception());
    }
    EXPECT_EQ(clean, 20);
    EXPECT_FALSE(std::current_exception());
}

TEST_P(task_group_test, foreign_threads_make_groups_and_spawn_into_others) {
    std::atomic<int> sum{0};
    task_group ours;
    fult::latch spawned(1), ended(1);
    std::thread outside([&] {
        task_group theirs;
        for (int i = 0; i < 50; ++i) {
            theirs.spawn([&] { ++sum; });
            ours.spawn([&] { this_task::yield(), ++sum; });
        }
        spawned.count_down();
        theirs.wait();
        theirs.spawn([] { throw std::runtime_error("to a thread"); });
        EXPECT_THROW(theirs.wait(), std::runtime_error);
        ended.count_down();
    });
    spawned.wait();
    ours.wait();
    ended.wait(); // not by a blocked worker: it may be the only one
    outside.join();
    EXPECT_EQ(sum, 100);
}

TEST_P(task_group_test, another_task_waits) {
    std::atomic<int> sum{0};
    std::optional<task_group> group(std::in_place);
    for (int i = 0; i < 50; ++i)
        group->spawn([&] { this_task::yield(), ++sum; });
    fult::spawn([&] {
        group->wait();
        EXPECT_EQ(sum, 50);
        group.reset();
    }).join();
}

// The maker has ended, and a task of the group, or one that such a task has made, has its slot: it spawns
// while another task or a thread waits.
TEST_P(task_group_test, outlives_its_maker) {
    for (const bool by_thread : {false, true})
        for (int round = 0; round < 40; ++round) {
            std::optional<task_group> group;
            fult::task_id maker, user;
            std::atomic<bool> waits{false};
            std::atomic<int> sum{0};
            auto make = fult::spawn([&] {
                maker = this_task::id();
                group.emplace();
                group->spawn([&] { this_task::yield(), ++sum; });
            });
            make.join();
            const auto spawns_late = [&] {
                user = this_task::id();
                while (!waits.load())
                    this_task::yield();
                for (int i = 0; i < 4; ++i) {
                    group->spawn([&] { this_task::yield(), ++sum; });
                    this_task::yield();
                }
                this_task::sleep_for(std::chrono::microseconds(50)); // time: either order is right
                ++sum;
            };
            if (round % 2 == 0)
                group->spawn(spawns_late); // mostly in the slot
            else
                group->spawn([&] { fult::spawn(spawns_late).join(); });
            const auto wait = [&] {
                waits.store(true);
                group->wait();
                EXPECT_EQ(sum, 6);
            };
            if (by_thread) {
                fult::event ended;
                std::thread waiter([&] {
                    wait();
                    ended.set();
                });
                ended.wait();
                waiter.join();
            } else {
                wait();
            }
        }
}

using task_group_death = fult::testing::restarting_test;
TEST_F(task_group_death, an_exception_that_no_wait_rethrows_ends_the_program) {
    EXPECT_DEATH(
        {
            fult::runtime running(fult::testing::workers(1));
            task_group group;
            group.spawn([] { throw std::runtime_error("unheard"); });
        },
        "task_group: one of its tasks ended with an exception: unheard; call wait");
}

// Groups of all shapes at once, with stops and exceptions at random.
TEST_P(task_group_test, stress) {
    auto random = fult::testing::seeded(5);
    const std::size_t rounds = fult::testing::scaled(2000);
    std::atomic<long> begun{0}, ended{0};
    for (std::size_t round = 0; round < rounds + 20; ++round) {
        const unsigned count = 1 + random() % 20, failing = random() % 40, kind = random() % 4;
        std::atomic<unsigned> alive{0};
        try {
            task_group group;
            for (unsigned i = 0; i < count; ++i)
                group.spawn([&, i](const std::stop_token &stop) {
                    ++alive;
                    ++begun;
                    if (kind == 1)
                        this_task::yield();
                    if (kind == 2 && i % 4 == 0)
                        group.spawn([&] { this_task::yield(), ++begun, ++ended; });
                    if (kind == 3 && failing < count)
                        this_task::wait(stop, [] { return false; });
                    ++ended;
                    --alive;
                    if (i == failing)
                        throw std::runtime_error("x");
                });
            if (kind == 3 && failing < count)
                group.request_stop();
            group.wait();
        } catch (const std::runtime_error &) {
        }
        ASSERT_EQ(alive, 0u);
        ASSERT_EQ(begun, ended);
    }
}

} // namespace
