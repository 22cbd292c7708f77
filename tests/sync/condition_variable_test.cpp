#include <mutex>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::condition_variable;
using fult::cv_status;
using fult::qlock;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class cv_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(cv_test);

// A queue of two places between all of them: any lost wake-up ends in the test's timeout.
TEST_P(cv_test, no_wake_up_is_lost) {
    qlock lock;
    condition_variable room, items;
    unsigned stored = 0;
    long taken = 0;
    const std::size_t rounds = fult::testing::scaled(2000);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            std::unique_lock guard(lock);
            if ((i + r) % 2 == 0) {
                room.wait(guard, [&] { return stored < size(); });
                ++stored;
                items.notify_one();
            } else if (stored != 0) {
                items.wait(guard, [&] { return stored > 0; });
                --stored;
                ++taken;
                room.notify_one();
            }
        }
        std::unique_lock guard(lock); // no waiter is left behind
        stored = 0;
        room.notify_all();
    });
    EXPECT_GT(taken, 0);
}

TEST_P(cv_test, notify_all_wakes_all_with_any_lock) {
    std::mutex lock; // a BasicLockable of another library; no task suspends while it is held
    condition_variable go;
    unsigned waiting = 0;
    bool set = false;
    all([&](unsigned) {
        std::unique_lock guard(lock);
        if (++waiting == size()) {
            set = true;
            go.notify_all();
        }
        go.wait(guard, [&] { return set; });
    });
    EXPECT_EQ(waiting, size());
}

// One notification, one waiter: never more.
TEST_P(cv_test, notify_one_wakes_one) {
    qlock lock;
    condition_variable go;
    std::atomic<unsigned> waiting{0}, woken{0};
    std::atomic<bool> notified{false};
    all([&](unsigned i) {
        if (i != 0) {
            std::unique_lock guard(lock);
            ++waiting;
            go.wait(guard);
            ++woken;
            return;
        }
        while (waiting.load() != size() - 1)
            yield_to_others();
        for (unsigned n = 1; n < size(); ++n) {
            lock.lock(); // the counted ones wait by now
            go.notify_one();
            lock.unlock();
            while (woken.load() != n) {
                ASSERT_LE(woken.load(), n);
                yield_to_others();
            }
        }
        notified = true;
    });
    EXPECT_TRUE(notified.load());
}

TEST_P(cv_test, timed_waits) {
    qlock lock;
    condition_variable never;
    all([&](unsigned i) {
        std::unique_lock guard(lock);
        const auto start = std::chrono::steady_clock::now(); // time: a lower bound
        switch (i % 3) {
        case 0:
            EXPECT_EQ(never.wait_for(guard, short_time), cv_status::timeout);
            break;
        case 1:
            // time: a lower bound
            EXPECT_EQ(never.wait_until(guard, std::chrono::system_clock::now() + short_time),
                      cv_status::timeout);
            break;
        case 2:
            EXPECT_FALSE(never.wait_for(guard, short_time, [] { return false; }));
            break;
        }
        EXPECT_TRUE(guard.owns_lock());
        EXPECT_GE(std::chrono::steady_clock::now() - start, short_time - 1ms); // time: a lower bound
    });
}

TEST_P(cv_test, a_timed_wait_is_notified) {
    qlock lock;
    condition_variable go;
    bool set = false;
    all([&](unsigned i) {
        std::unique_lock guard(lock);
        if (i + 1 == size()) {
            set = true;
            go.notify_all();
        } else {
            EXPECT_TRUE(go.wait_for(guard, long_time, [&] { return set; }));
        }
    });
}

TEST_P(cv_test, stop_requests_end_waits) {
    std::stop_source source;
    qlock lock;
    condition_variable never;
    std::atomic<unsigned> waiting{0};
    all([&](unsigned i) {
        if (i == 0) {
            while (waiting.load() != size() - 1)
                yield_to_others();
            source.request_stop();
            return;
        }
        std::unique_lock guard(lock);
        ++waiting;
        if (i % 2)
            EXPECT_FALSE(never.wait(guard, source.get_token(), [] { return false; }));
        else
            EXPECT_FALSE(never.wait_for(guard, source.get_token(), long_time, [] { return false; }));
        EXPECT_TRUE(guard.owns_lock());
    });
}

// A clock that lies still: by the steady one the deadline comes too early.
struct slow_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<slow_clock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static inline duration present{0};
    static time_point now() { return time_point(present); }
};

// Its first lock after a wait makes the condition true and notifies; by the second one the time is over.
struct notifying_lock {
    condition_variable &cv;
    bool &condition;
    int locks = 0;
    void lock() {
        if (locks++ == 0) {
            condition = true;
            cv.notify_one();
        } else {
            slow_clock::present = std::chrono::hours(1); // time: given, never reached
        }
    }
    void unlock() {}
};

// A wait that ended early continued without a check of the condition, and missed the notification in between.
TEST(condition_variable, a_slow_clock_loses_no_notification) {
    condition_variable cv;
    bool condition = false;
    notifying_lock lock{cv, condition};
    const auto near = slow_clock::now() + std::chrono::milliseconds(1); // time: a lower bound
    EXPECT_TRUE(cv.wait_until(lock, near, [&] { return condition; }));
    EXPECT_EQ(lock.locks, 1);
}

TEST(condition_variable, a_lock_that_is_not_held_is_reported) {
    qlock lock;
    condition_variable cv;
    std::unique_lock guard(lock, std::defer_lock);
    EXPECT_THROW(cv.wait(guard), std::system_error);
    cv.notify_all(); // the queue is empty
}

} // namespace
