// Sleeping tasks, and the ends of their sleep.
#include <algorithm>
#include <chrono>
#include <stop_token>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;
using fult::spawn;
using fult::testing::long_time;
namespace this_task = fult::this_task;

class sleep_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(sleep_test);

TEST_P(sleep_test, lasts_as_long_as_asked_for) {
    all([](unsigned i) {
        const auto start = clock_type::now();                                           // time: a lower bound
        this_task::sleep_for(std::chrono::microseconds(300 * (i + 1)));                 // time: a lower bound
        EXPECT_GE(clock_type::now() - start, std::chrono::microseconds(300 * (i + 1))); // time: a lower bound
        const auto until = std::chrono::system_clock::now() + 1ms;                      // time: a lower bound
        this_task::sleep_until(until);                                                  // time: a lower bound
        EXPECT_GE(std::chrono::system_clock::now(), until);                             // time: a lower bound
    });
}

TEST_P(sleep_test, none_where_the_time_has_passed) {
    all([](unsigned) {
        this_task::sleep_for(-1h);
        this_task::sleep_for(0ns);
        this_task::sleep_until(clock_type::time_point::min());
        this_task::sleep_until(std::chrono::system_clock::now() - 24h); // time: given, never reached
        EXPECT_TRUE(this_task::sleep_for(std::stop_token(), -1s));
    });
}

TEST_P(sleep_test, ends_with_a_stop) {
    std::stop_source source;
    std::atomic<unsigned> ended{0};
    all([&](unsigned i) {
        if (i == 0) {
            this_task::sleep_for(1ms); // time: a lower bound
            source.request_stop();
        } else if (i % 2) {
            EXPECT_FALSE(this_task::sleep_for(source.get_token(), long_time));
        } else {
            EXPECT_FALSE(this_task::sleep_until(source.get_token(), clock_type::time_point::max()));
        }
        ++ended;
    });
    EXPECT_EQ(ended.load(), size());
    EXPECT_FALSE(this_task::sleep_for(source.get_token(), long_time));
}

TEST_P(sleep_test, races_with_stops) {
    const std::size_t rounds = fult::testing::scaled(300);
    for (std::size_t r = 0; r < rounds; ++r) {
        std::stop_source source;
        all([&](unsigned i) {
            if (i == 0) {
                source.request_stop();
                return;
            }
            const bool over =
                // time: either order is right
                this_task::sleep_for(source.get_token(), std::chrono::microseconds((r + i) % 30));
            EXPECT_TRUE(over || source.stop_requested());
        });
    }
}

// A sleeping task occupies no worker: all the others run.
TEST_P(sleep_test, leaves_the_worker_to_others) {
    std::stop_source over;
    std::vector<fult::handle<void>> sleepers;
    for (int i = 0; i < 20; ++i)
        sleepers.push_back(spawn([&] { this_task::sleep_for(over.get_token(), long_time); }));
    std::atomic<unsigned> ran{0};
    all([&](unsigned) { ++ran; });
    EXPECT_EQ(ran.load(), size());
    over.request_stop();
    fult::join_all(sleepers);
}

// Workers that always have something to run notice deadlines too.
TEST_P(sleep_test, ends_beside_busy_tasks) {
    const int busy = 2 * fult::worker_count();
    std::atomic<bool> woken{false};
    std::vector<fult::handle<void>> others;
    for (int i = 0; i < busy; ++i)
        others.push_back(spawn([&] {
            while (!woken.load())
                this_task::yield();
        }));
    auto sleeper = spawn([&] {
        const auto start = clock_type::now(); // time: a lower bound
        this_task::sleep_for(2ms);            // time: a lower bound
        woken = true;
        return clock_type::now() - start; // time: a lower bound
    });
    EXPECT_GE(sleeper.join(), 2ms); // time: a lower bound
    fult::join_all(others);
}

// A signal to a sleeping task is not taken for the end of its sleep.
TEST_P(sleep_test, is_not_ended_by_signals) {
    const auto start = clock_type::now(); // time: a lower bound
    std::atomic<bool> over{false};
    auto sleeper = spawn([&] {
        this_task::sleep_for(3ms); // time: a lower bound
        over = true;
        EXPECT_GE(clock_type::now() - start, 3ms); // time: a lower bound
    });
    for (int i = 0; i < 100 && !over.load(); ++i) {
        fult::signal(sleeper.id());
        this_task::yield();
    }
    sleeper.join();
}

TEST(sleeping_crowd, many_deadlines_at_once_and_scattered) {
    fult::runtime rt(fult::testing::workers(2));
    const std::size_t count = fult::testing::scaled(20000);
    const auto start = clock_type::now(); // time: a lower bound
    std::atomic<std::size_t> early{0};
    std::vector<fult::handle<void>> tasks;
    for (std::size_t i = 0; i < count; ++i)
        tasks.push_back(spawn([&, i] {
            // time: a lower bound
            const auto until = start + 20ms + std::chrono::microseconds(i % 2 ? 5000 : i * 7919 % 50000);
            this_task::sleep_until(until); // time: a lower bound
            // time: a lower bound
            if (clock_type::now() < until)
                ++early;
        }));
    fult::join_all(tasks);
    EXPECT_EQ(early.load(), 0U);
}

// The earlier deadline of a worker that continues computing wakes the one that sleeps for a later one.
TEST(sleeping_crowd, a_sleeping_worker_hears_of_an_earlier_deadline) {
    fult::runtime rt(fult::testing::workers(2));
    for (std::size_t r = 0; r < fult::testing::scaled(50); ++r) {
        std::stop_source over;
        auto late = spawn([&] { return this_task::sleep_for(over.get_token(), long_time); });
        std::atomic<bool> armed{false}, woken{false};
        auto early = spawn([&] {
            armed = true;
            this_task::sleep_for(r % 2 ? 100us : 2ms); // time: a lower bound
            woken = true;
        });
        while (!armed.load())
            this_task::yield();
        this_task::yield();
        fult::testing::spin_until([&] { return woken.load(); }); // holds this worker
        early.join();
        over.request_stop();
        EXPECT_FALSE(late.join()); // stopped before its time
    }
}

// The runtime ends while only a sleeper is left.
TEST(sleeping_crowd, a_runtime_waits_for_sleepers) {
    for (int r = 0; r < 3; ++r) {
        std::atomic<bool> woken{false};
        {
            fult::runtime rt(fult::testing::workers(2));
            spawn([&] {
                this_task::sleep_for(3ms); // time: a lower bound
                woken = true;
            }).detach();
        }
        EXPECT_TRUE(woken.load());
    }
}

} // namespace
