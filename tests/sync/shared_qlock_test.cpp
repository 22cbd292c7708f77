#include <mutex>
#include <shared_mutex>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::shared_qlock;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class shared_qlock_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(shared_qlock_test);

TEST_P(shared_qlock_test, writers_exclude_all_and_readers_share) {
    shared_qlock lock;
    std::atomic<int> readers{0}, writers{0};
    long written = 0;
    const std::size_t rounds = fult::testing::scaled(1500);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            if ((r + i) % 4 == 0) {
                std::unique_lock guard(lock);
                ASSERT_EQ(writers.fetch_add(1), 0);
                ASSERT_EQ(readers.load(), 0);
                ++written;
                if (r % 8 == 0)
                    yield_to_others();
                writers.fetch_sub(1);
            } else {
                std::shared_lock guard(lock);
                readers.fetch_add(1);
                ASSERT_EQ(writers.load(), 0);
                if (r % 8 == 1)
                    yield_to_others();
                readers.fetch_sub(1);
            }
        }
    });
    lock.lock();
    EXPECT_GT(written, 0);
    lock.unlock();
}

TEST_P(shared_qlock_test, timeouts_race_with_turns) {
    shared_qlock lock;
    std::atomic<int> readers{0}, writers{0};
    std::atomic<long> turns{0};
    const std::size_t rounds = fult::testing::scaled(300);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            const auto limit = std::chrono::microseconds((r * 5 + i) % 50); // time: either order is right
            if ((r + i) % 3 == 0) {
                if (!lock.try_lock_for(limit))
                    continue;
                ASSERT_EQ(writers.fetch_add(1), 0);
                ASSERT_EQ(readers.load(), 0);
                yield_to_others();
                writers.fetch_sub(1);
                lock.unlock();
            } else {
                if (!lock.try_lock_shared_for(limit))
                    continue;
                readers.fetch_add(1);
                ASSERT_EQ(writers.load(), 0);
                yield_to_others();
                readers.fetch_sub(1);
                lock.unlock_shared();
            }
            ++turns;
        }
    });
    EXPECT_TRUE(lock.try_lock()) << "it is still owned";
    lock.unlock();
}

// A reader that comes after a waiting writer waits; when the writer times out it continues.
TEST_P(shared_qlock_test, readers_behind_a_writer_that_gives_up) {
    shared_qlock lock;
    lock.lock_shared();
    std::atomic<bool> gave_up{false};
    auto writer = spawn([&] {
        EXPECT_FALSE(lock.try_lock_for(short_time));
        gave_up = true;
    });
    while (!gave_up.load() && lock.try_lock_shared()) { // until the writer is queued
        lock.unlock_shared();
        this_task::yield();
    }
    auto reader = spawn([&] {
        lock.lock_shared();
        lock.unlock_shared();
    });
    writer.join();
    reader.join();
    lock.unlock_shared();
    // time: given, never reached
    EXPECT_TRUE(lock.try_lock_until(std::chrono::system_clock::now() + long_time));
    EXPECT_FALSE(lock.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms)); // time: a lower bound
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_shared_for(0s));
    lock.unlock_shared();
}

TEST(shared_qlock, misuse_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(shared_qlock().unlock(), "shared_qlock::unlock: no writer");
    EXPECT_DEATH(shared_qlock().unlock_shared(), "shared_qlock::unlock_shared: no reader");
}

} // namespace
