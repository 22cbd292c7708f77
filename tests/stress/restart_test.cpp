// 1,000 starts and stops, each with some work, with its workers in any state.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "tests/support/support.hpp"

namespace {

namespace this_task = fult::this_task;

TEST(restart, a_thousand_times) {
    auto random = fult::testing::seeded(1000);
    for (std::size_t i = 0; i < fult::testing::scaled(1000); ++i) {
        const unsigned n = 1 + static_cast<unsigned>(random() % 4);
        std::atomic<int> ran{0};
        int expected = 0;
        {
            fult::options o = fult::testing::workers(n);
            o.idle_spin = static_cast<unsigned>(random() % 3) * 50;
            const fult::runtime running(o);
            const int tasks = static_cast<int>(random() % 40);
            for (int k = 0; k < tasks; ++k)
                switch (random() % 3) {
                case 0:
                    fult::spawn([&] { ran.fetch_add(1); }).detach();
                    break;
                case 1:
                    fult::spawn_pinned(static_cast<int>(random() % n), [&] {
                        this_task::yield();
                        ran.fetch_add(1);
                    }).detach();
                    break;
                default:
                    fult::spawn([&] {
                        this_task::yield();
                        ran.fetch_add(1);
                    }).join();
                    break;
                }
            expected = tasks;
            if (random() % 4 == 0) {
                std::thread([&] { fult::spawn([&] { ran.fetch_add(1); }).detach(); }).join();
                ++expected;
            }
        }
        ASSERT_EQ(ran.load(), expected) << "start " << i;
    }
}

} // namespace
