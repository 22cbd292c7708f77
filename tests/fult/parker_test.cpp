#include <atomic>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

#include "fult/parker.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::detail::parker;

TEST(parker, a_post_before_the_wait_is_not_lost) {
    parker p;
    const auto prepared = p.prepare();
    p.post();
    EXPECT_TRUE(p.posted(prepared));
    fult::testing::expect_ends([&] { p.wait(prepared); });
}

TEST(parker, an_old_post_does_not_end_a_new_wait) {
    parker p;
    p.post();
    const auto prepared = p.prepare();
    const auto begin = std::chrono::steady_clock::now();
    p.wait(prepared, 20);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(19));
}

TEST(parker, errno_stays) {
    parker p;
    errno = 77;
    p.wait(p.prepare(), 1);
    EXPECT_EQ(errno, 77);
    p.post();
    EXPECT_EQ(errno, 77);
}

TEST(parker, two_threads_in_turn) {
    const std::size_t rounds = fult::testing::scaled(20000);
    parker ping, pong;
    std::atomic<std::size_t> ball{0};
    const auto play = [&](parker &mine, parker &other, std::size_t parity) {
        for (std::size_t i = parity; i < 2 * rounds; i += 2) {
            for (;;) {
                const auto prepared = mine.prepare();
                if (ball.load() == i)
                    break;
                mine.wait(prepared);
            }
            ball.store(i + 1);
            other.post();
        }
    };
    std::thread second([&] { play(pong, ping, 1); });
    play(ping, pong, 0);
    second.join();
    EXPECT_EQ(ball.load(), 2 * rounds);
}

} // namespace
