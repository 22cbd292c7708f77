// Semaphores, latches, events and call_once.
#include <stdexcept>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class simple_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(simple_test);

TEST_P(simple_test, a_semaphore_lets_so_many_in) {
    fult::counting_semaphore<3> room(3);
    std::atomic<int> inside{0};
    std::atomic<long> visits{0};
    const std::size_t rounds = fult::testing::scaled(1000);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            if (i % 3 == 2)
                ASSERT_TRUE(room.try_acquire_for(long_time));
            else
                room.acquire();
            ASSERT_LE(inside.fetch_add(1), 2);
            if ((r + i) % 4 == 0)
                yield_to_others();
            inside.fetch_sub(1);
            ++visits;
            room.release();
        }
    });
    EXPECT_EQ(visits.load(), long(rounds * size()));
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(room.try_acquire());
    EXPECT_FALSE(room.try_acquire());
}

TEST_P(simple_test, semaphore_timeouts_race_with_releases) {
    fult::counting_semaphore<> units(0);
    std::atomic<long> got{0}, given{0};
    const std::size_t rounds = fult::testing::scaled(300);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r)
            if (i % 2 == 0) {
                units.release(r % 3);
                given += long(r % 3);
                yield_to_others();
                // time: either order is right
            } else if (units.try_acquire_for(std::chrono::microseconds((r + i) % 40))) {
                ++got;
            }
    });
    while (units.try_acquire())
        ++got;
    EXPECT_EQ(got.load(), given.load());
}

TEST_P(simple_test, semaphore_waits_end_with_time_and_stop) {
    fult::binary_semaphore none(0);
    std::stop_source source;
    std::atomic<unsigned> timed_out{0};
    all([&](unsigned i) {
        if (i == 0) {
            while (timed_out.load() != (size() - 1) / 2)
                yield_to_others();
            source.request_stop();
        } else if (i % 2 == 0) {
            EXPECT_FALSE(none.try_acquire_for(short_time));
            ++timed_out;
        } else {
            EXPECT_FALSE(none.acquire(source.get_token()));
        }
    });
    none.release();
    EXPECT_TRUE(none.try_acquire());
}

TEST_P(simple_test, a_latch_opens_once) {
    for (std::size_t r = 0; r < fult::testing::scaled(200); ++r) {
        fult::latch all_here(size());
        std::atomic<unsigned> arrived{0};
        all([&](unsigned i) {
            ++arrived;
            if (i % 2) {
                all_here.arrive_and_wait();
            } else {
                all_here.count_down();
                ASSERT_TRUE(all_here.wait_for(long_time));
            }
            ASSERT_EQ(arrived.load(), size());
            ASSERT_TRUE(all_here.try_wait());
        });
    }
}

TEST_P(simple_test, a_latchs_waits_end_with_time_and_stop) {
    fult::latch never(1);
    std::stop_source source;
    all([&](unsigned i) {
        if (i == 0)
            source.request_stop();
        else if (i % 2)
            EXPECT_FALSE(never.wait_for(short_time));
        else
            EXPECT_FALSE(never.wait(source.get_token()));
    });
    EXPECT_FALSE(never.try_wait());
    never.count_down();
    EXPECT_TRUE(never.try_wait());
}

TEST_P(simple_test, a_latch_may_be_destroyed_by_its_waiter) {
    for (std::size_t r = 0; r < fult::testing::scaled(1000); ++r) {
        auto gate = std::make_unique<fult::latch>(1);
        fult::latch *known = gate.get();
        auto waiter = spawn([&] {
            gate->wait();
            gate.reset();
        });
        if (r % 2)
            this_task::yield();
        known->count_down();
        waiter.join();
        EXPECT_EQ(gate, nullptr);
    }
}

TEST_P(simple_test, an_event_is_set_and_reset) {
    for (std::size_t r = 0; r < fult::testing::scaled(100); ++r) {
        fult::event there;
        fult::latch seen(size() - 1);
        std::atomic<bool> set{false};
        all([&](unsigned i) {
            if (i == 0) {
                set = true;
                there.set();
                seen.wait();
                there.reset();
                ASSERT_FALSE(there.is_set());
                ASSERT_FALSE(there.wait_for(0s));
                return;
            }
            if (i % 2)
                there.wait();
            else
                ASSERT_TRUE(there.wait_for(long_time));
            ASSERT_TRUE(set.load());
            seen.count_down();
        });
    }
    fult::event never;
    all([&](unsigned) { EXPECT_FALSE(never.wait_for(short_time)); });
}

TEST_P(simple_test, once_and_only_once) {
    for (std::size_t r = 0; r < fult::testing::scaled(200); ++r) {
        fult::once_flag flag;
        int runs = 0;
        all([&](unsigned) {
            fult::call_once(flag, [&] {
                yield_to_others();
                ++runs;
            });
            ASSERT_EQ(runs, 1);
        });
    }
}

TEST_P(simple_test, once_again_after_an_exception) {
    fult::once_flag flag;
    std::atomic<unsigned> tries{0}, thrown{0};
    const unsigned bad = size() - 1;
    all([&](unsigned) {
        try {
            fult::call_once(flag, [&] {
                const unsigned n = ++tries;
                yield_to_others();
                if (n <= bad)
                    throw std::runtime_error("not yet");
            });
        } catch (const std::runtime_error &) {
            ++thrown;
        }
    });
    EXPECT_EQ(thrown.load(), bad);
    EXPECT_EQ(tries.load(), size());
    fult::call_once(flag, [&] { ADD_FAILURE() << "a second time"; });
}

TEST_P(simple_test, spinlock) {
    fult::spinlock lock;
    long counter = 0;
    const std::size_t rounds = fult::testing::scaled(2000);
    all([&](unsigned) {
        for (std::size_t r = 0; r < rounds; ++r) {
            lock.lock();
            ++counter;
            lock.unlock();
            if (lock.try_lock()) {
                EXPECT_FALSE(lock.try_lock());
                lock.unlock();
            }
        }
    });
    EXPECT_EQ(counter, long(rounds * size()));
}

TEST(simple, misuse_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(fult::binary_semaphore(2), "counting_semaphore: the initial count");
    EXPECT_DEATH(fult::binary_semaphore(1).release(), "would exceed max");
    EXPECT_DEATH(fult::latch(-1), "latch: the count is negative");
    EXPECT_DEATH(fult::latch(1).count_down(2), "latch::count_down");
#ifndef NDEBUG
    EXPECT_DEATH(
        {
            fult::runtime running(fult::testing::workers(1));
            fult::spinlock lock;
            lock.lock();
            this_task::yield();
        },
        "this_task::yield: the task suspends while it holds a spinlock");
    EXPECT_DEATH(fult::spinlock().unlock(), "spinlock::unlock: this thread holds no spinlock");
#endif
}

// The timer's thread serves one runtime after the other, and foreign threads need none.
TEST(simple, timed_waits_in_runtime_after_runtime) {
    fult::event never;
    for (int r = 0; r < 10; ++r) {
        fult::runtime running(fult::testing::workers(1 + r % 2));
        spawn([&] { EXPECT_FALSE(never.wait_for(1ms)); }).join(); // time: a lower bound
        EXPECT_FALSE(never.wait_for(100us));                      // time: a lower bound
    }
    EXPECT_FALSE(never.wait_for(1ms)); // time: a lower bound
}

// All workers sleep meanwhile, or are kept busy by a task that does not yield.
TEST(simple, timed_waits_end_while_workers_sleep) {
    fult::runtime running(fult::testing::workers(2));
    fult::event never;
    const auto start = std::chrono::steady_clock::now(); // time: a lower bound
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 20; ++i)
        tasks.emplace_back(spawn([&, i] {
            const auto limit = std::chrono::milliseconds(20 + i); // time: a lower bound
            EXPECT_FALSE(never.wait_for(limit));
            EXPECT_GE(std::chrono::steady_clock::now() - start, limit); // time: a lower bound
        }));
    join_all(tasks);
}

} // namespace
