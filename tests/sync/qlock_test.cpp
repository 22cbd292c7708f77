#include <algorithm>
#include <mutex>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::qlock;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class qlock_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(qlock_test);

TEST_P(qlock_test, excludes) {
    qlock lock;
    long counter = 0; // not atomic: only the lock protects it
    std::atomic<int> inside{0};
    const std::size_t rounds = fult::testing::scaled(4000);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            std::lock_guard guard(lock);
            EXPECT_EQ(inside.fetch_add(1), 0);
            ++counter;
            if ((r + i) % 8 == 0)
                yield_to_others(); // an owner may suspend
            inside.fetch_sub(1);
        }
    });
    EXPECT_EQ(counter, long(rounds * size()));
}

TEST_P(qlock_test, is_lockable_with_the_standards_guards) {
    qlock a, b;
    long both = 0;
    all([&](unsigned i) {
        for (int r = 0; r < 200; ++r) {
            if (i % 2) {
                std::scoped_lock guard(a, b);
                ++both;
            } else {
                std::scoped_lock guard(b, a);
                ++both;
            }
            std::unique_lock<qlock> tried(a, std::try_to_lock);
        }
    });
    EXPECT_EQ(both, 200 * long(size()));
}

// The waiter that enqueued first gets the lock first, however many others have come.
TEST_P(qlock_test, first_come_first_served) {
    const unsigned tasks = 40;
    qlock lock;
    std::vector<unsigned> order;
    lock.lock();
    std::vector<fult::handle<void>> waiters;
    for (unsigned i = 0; i < tasks; ++i) {
        waiters.emplace_back(spawn([&, i] {
            lock.lock();
            order.push_back(i);
            if (i % 3 == 0)
                this_task::yield();
            lock.unlock();
        }));
        while (lock.waiting() != i + 1)
            this_task::yield();
    }
    lock.unlock();
    join_all(waiters);
    ASSERT_EQ(order.size(), tasks);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// A task that locks again at once may bypass the queue, but not forever.
TEST_P(qlock_test, a_queue_is_passed_so_often_at_most) {
    const unsigned most = 16;
    qlock lock;
    std::atomic<bool> let_in{false};
    lock.lock();
    auto waiter = spawn([&] {
        lock.lock();
        let_in = true;
        lock.unlock();
    });
    while (lock.waiting() != 1)
        this_task::yield();
    unsigned returns = 0;
    do {
        lock.unlock();
        lock.lock();
        ++returns;
    } while (!let_in.load() && returns <= 2 * most);
    lock.unlock();
    waiter.join();
    EXPECT_LE(returns, most + 1);
}

TEST_P(qlock_test, try_lock) {
    qlock lock;
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    EXPECT_FALSE(spawn([&] { return lock.try_lock(); }).join());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_P(qlock_test, timed_locks_give_up_in_time) {
    qlock lock;
    lock.lock();
    all([&](unsigned i) {
        const auto start = std::chrono::steady_clock::now(); // time: a lower bound
        if (i % 2)
            EXPECT_FALSE(lock.try_lock_for(short_time));
        else
            // time: a lower bound
            EXPECT_FALSE(lock.try_lock_until(std::chrono::system_clock::now() + short_time));
        // time: a lower bound
        EXPECT_GE(std::chrono::steady_clock::now() - start, short_time - 1ms); // another clock: rounding
    });
    EXPECT_FALSE(lock.try_lock_for(-1s));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(0s)); // the queue is empty
    lock.unlock();
}

TEST_P(qlock_test, timed_locks_get_the_lock) {
    qlock lock;
    std::atomic<unsigned> got{0};
    const std::size_t rounds = fult::testing::scaled(300);
    all([&](unsigned) {
        for (std::size_t r = 0; r < rounds; ++r) {
            ASSERT_TRUE(lock.try_lock_for(long_time));
            ++got;
            yield_to_others();
            lock.unlock();
            ASSERT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
            lock.unlock();
        }
    });
    EXPECT_EQ(got.load(), rounds * size());
}

// The time passes while the lock is handed off: it is then either owned or not, never lost.
TEST_P(qlock_test, timeouts_race_with_unlocks) {
    qlock lock;
    long owned = 0, counted = 0;
    std::atomic<long> granted{0}, gave_up{0};
    const std::size_t rounds = fult::testing::scaled(300);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            // time: either order is right
            if (lock.try_lock_for(std::chrono::microseconds((r * 7 + i * 13) % 60))) {
                ++owned;
                for (unsigned n = 0; n < (r + i) % 5; ++n)
                    yield_to_others();
                lock.unlock();
                ++granted;
            } else {
                ++gave_up;
            }
        }
    });
    lock.lock(); // it is free
    counted = owned;
    lock.unlock();
    EXPECT_EQ(counted, granted.load());
    EXPECT_EQ(granted.load() + gave_up.load(), long(rounds * size()));
}

// A lock waiter whose child ends must not mistake that for its grant.
TEST_P(qlock_test, a_childs_end_is_no_grant) {
    for (std::size_t r = 0; r < fult::testing::scaled(100); ++r) {
        qlock lock;
        std::atomic<bool> released{false}, child_ended{false};
        lock.lock();
        auto waiter = spawn([&] {
            auto child = fult::testing::signaling_child(child_ended);
            lock.lock();
            EXPECT_TRUE(released.load());
            lock.unlock();
            child.join();
        });
        while (!child_ended.load())
            this_task::yield();
        released = true;
        lock.unlock();
        waiter.join();
    }
}

TEST_P(qlock_test, may_be_destroyed_by_the_next_owner) {
    for (std::size_t r = 0; r < fult::testing::scaled(1000); ++r) {
        auto lock = std::make_unique<qlock>();
        lock->lock();
        auto next = spawn([&] {
            lock->lock();
            lock->unlock();
            lock.reset();
        });
        if (r % 2)
            this_task::yield();
        lock->unlock();
        next.join();
        ASSERT_EQ(lock, nullptr);
    }
}

TEST(qlock, misuse_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(qlock().unlock(), "qlock::unlock: the lock is not locked");
}

TEST(qlock, works_without_a_runtime) {
    qlock lock;
    long counter = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            for (int r = 0; r < 1000; ++r) {
                std::lock_guard guard(lock);
                ++counter;
            }
        });
    for (auto &each : threads)
        each.join();
    EXPECT_EQ(counter, 3000);
    lock.lock();
    EXPECT_FALSE(lock.try_lock_for(1ms)); // time: a lower bound
}

} // namespace
