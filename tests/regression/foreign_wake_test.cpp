// Then: one worker, every task waiting, a wake-up from a foreign thread: the search for a victim did not end.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "tests/support/asleep.hpp"
#include "tests/support/support.hpp"

namespace {

namespace this_task = fult::this_task;

TEST(foreign_wake, one_worker_on_which_all_tasks_wait) {
    for (const bool stealing : {true, false}) {
        fult::options o = fult::testing::workers(1);
        o.stealing = stealing;
        o.idle_spin = 0; // to sleep at once
        const fult::runtime running(o);
        constexpr int count = 20;
        std::atomic<int> waiting{0}, woken{0};
        std::atomic<bool> go{false};
        std::vector<fult::handle<void>> all;
        std::vector<fult::task_id> ids;
        for (int i = 0; i < count; ++i) {
            all.push_back(fult::spawn([&] {
                waiting.fetch_add(1);
                while (!go.load())
                    this_task::wait();
                woken.fetch_add(1);
            }));
            ids.push_back(all.back().id());
        }
        std::thread foreign([&] {
            fult::testing::spin_until([&] { return waiting.load() == count; });
            fult::testing::spin_until_asleep(1);
            go = true;
            for (const fult::task_id id : ids)
                signal(id);
        });
        join_all(all);
        foreign.join();
        EXPECT_EQ(woken.load(), count);
    }
}

} // namespace
