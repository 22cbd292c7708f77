// Then: main's context could be stolen before it had been saved. Now: only the context after it makes a task
// claimable.
#include <atomic>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "tests/support/support.hpp"

namespace {

using fult::spawn;
namespace this_task = fult::this_task;

[[gnu::noinline]] long kernel_thread() { return ::syscall(SYS_gettid); }

// Waits while others signal without pause, so that each suspension races with a claim; its locals must be as
// they were.
template <class AtHome> void suspend_under_fire(std::atomic<bool> &over, int rounds, AtHome at_home) {
    const fult::task_id me = this_task::id();
    std::vector<fult::handle<void>> fire;
    for (int i = 0; i < 3; ++i)
        fire.push_back(fult::spawn_on(1, [&over, me] {
            while (!over.load()) {
                signal(me);
                this_task::yield();
            }
        }));
    volatile int i = 0; // in memory: on the stack in question
    while (i < rounds) {
        const int before = i;
        volatile int local[16];
        for (int n = 0; n < 16; ++n)
            local[n] = before + n;
        i % 2 ? this_task::wait() : this_task::yield();
        ASSERT_EQ(i, before);
        for (int n = 0; n < 16; ++n)
            ASSERT_EQ(local[n], before + n);
        ASSERT_TRUE(at_home());
        i = before + 1;
    }
    over = true;
    join_all(fire);
}

TEST(unsaved_context, of_main) {
    const long thread = kernel_thread();
    const fult::runtime running(fult::testing::workers(2));
    std::atomic<bool> over{false};
    suspend_under_fire(over, static_cast<int>(fult::testing::scaled(30000)),
                       [&] { return kernel_thread() == thread && this_task::worker() == 0; });
}

TEST(unsaved_context, of_tasks_that_move) {
    const fult::runtime running(fult::testing::workers(2));
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(spawn([] {
            std::atomic<bool> over{false};
            suspend_under_fire(over, static_cast<int>(fult::testing::scaled(5000)), [] { return true; });
        }));
    join_all(all);
}

} // namespace
