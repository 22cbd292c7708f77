#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>

#include "fult/scheduler/parker.hpp"
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
    const auto begin = std::chrono::steady_clock::now(); // time: a lower bound
    p.wait(prepared, 20);
    // time: a lower bound
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

TEST(parker, signals_do_not_prolong_a_wait) {
    struct sigaction act = {};
    struct sigaction before = {};
    act.sa_handler = [](int) {};
    sigaction(SIGUSR1, &act, &before);
    std::atomic<bool> ended{false};
    std::thread waiter([&] {
        parker p;
        p.wait(p.prepare(), 50);
        ended = true;
    });
    fult::testing::expect_ends([&] { // it does not if each signal begins the wait again
        while (!ended.load()) {
            pthread_kill(waiter.native_handle(), SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(10)); // time: between polls
        }
    });
    waiter.join();
    sigaction(SIGUSR1, &before, nullptr);
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
