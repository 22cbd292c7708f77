// Tasks and foreign threads that do the same at once.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <tuple>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace fult::testing {

// How many workers, tasks and foreign threads a test has.
struct crowd {
    unsigned workers, tasks, threads;
    friend std::ostream &operator<<(std::ostream &out, const crowd &c) {
        return out << c.workers << " workers, " << c.tasks << " tasks, " << c.threads << " threads";
    }
};

class sync_test : public ::testing::TestWithParam<crowd> {
  protected:
    unsigned size() const { return GetParam().tasks + GetParam().threads; }

    // Calls body(0) ... body(size() - 1), the first ones in tasks, the others on threads.
    template <class Body> void all(const Body &body) {
        std::vector<std::thread> threads;
        std::vector<handle<void>> tasks;
        for (unsigned i = 0; i < GetParam().threads; ++i)
            threads.emplace_back([&body, number = GetParam().tasks + i] { body(number); });
        for (unsigned i = 0; i < GetParam().tasks; ++i)
            tasks.emplace_back(spawn([&body, i] { body(i); }));
        join_all(tasks);
        for (std::thread &each : threads)
            each.join();
    }

    // From a task: others first. From a thread: likewise.
    static void yield_to_others() {
        if (in_task())
            this_task::yield();
        else
            std::this_thread::yield();
    }

    runtime running{workers(GetParam().workers)};
};

// A child that signals the caller, as a completion does, while the caller waits for something else; says
// when.
inline handle<void> signaling_child(std::atomic<bool> &ended) {
    return spawn([&ended, parent = this_task::id()] {
        this_task::yield();
        signal(parent);
        ended = true;
    });
}

// For a timed wait that is expected to end before its deadline, and for one that is expected to end by it.
inline constexpr auto long_time = std::chrono::hours(1000);      // time: given, never reached
inline constexpr auto short_time = std::chrono::milliseconds(5); // time: a lower bound

#define FULT_TEST_CROWDS(test)                                                              \
    INSTANTIATE_TEST_SUITE_P(                                                               \
        crowds, test,                                                                       \
        ::testing::Values(::fult::testing::crowd{1, 6, 0}, ::fult::testing::crowd{1, 3, 3}, \
                          ::fult::testing::crowd{2, 8, 0}, ::fult::testing::crowd{2, 4, 3}, \
                          ::fult::testing::crowd{2, 0, 4}, ::fult::testing::crowd{8, 24, 2}))

} // namespace fult::testing
