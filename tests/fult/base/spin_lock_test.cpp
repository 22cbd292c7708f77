#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

#include "fult/base/spin_lock.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::detail::spin_lock;

TEST(spin_lock, one_holder) {
    spin_lock lock;
    EXPECT_TRUE(lock.try_lock());
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
}

TEST(spin_lock, excludes) {
    spin_lock lock;
    std::size_t count = 0; // plain: the lock is what orders it
    const std::size_t rounds = fult::testing::scaled(100000);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (std::size_t n = 0; n < rounds; ++n) {
                const std::lock_guard<spin_lock> held(lock);
                ++count;
            }
        });
    for (std::thread &each : threads)
        each.join();
    EXPECT_EQ(count, 4 * rounds);
}

} // namespace
