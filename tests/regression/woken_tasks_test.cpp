// Then: of 32 woken tasks, one worker ran 30: it had claimed a word of them, which sat in a register. Now:
// what a worker holds and does not run can be stolen.
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/support.hpp"

namespace {

namespace this_task = fult::this_task;

class woken_tasks : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(private_words, woken_tasks, ::testing::Bool());

// Woken tasks meet in pairs, without a scheduling point: the second of each pair must run on the other
// worker. Were they to sit with one worker, the first pair would never meet.
TEST_P(woken_tasks, run_on_both_workers) {
    fult::options o = fult::testing::workers(2);
    o.private_words = GetParam();
    const fult::runtime running(o);
    for (int round = 0; round < 20; ++round) {
        constexpr unsigned count = 32;
        std::atomic<unsigned> blocked{0}, arrived{0};
        std::atomic<unsigned> ran_on[2]{};
        std::atomic<bool> go{false};
        std::vector<fult::handle<void>> all;
        for (unsigned i = 0; i < count; ++i)
            all.push_back(fult::spawn([&] {
                blocked.fetch_add(1);
                while (!go.load())
                    this_task::wait();
                ran_on[this_task::worker()].fetch_add(1);
                const unsigned mine = arrived.fetch_add(1);
                fult::testing::spin_until([&] { return arrived.load() > (mine | 1); });
            }));
        while (blocked.load() != count)
            this_task::yield();
        go = true;
        for (auto &each : all)
            signal(each.id());
        join_all(all);
        EXPECT_EQ(ran_on[0].load(), count / 2);
        EXPECT_EQ(ran_on[1].load(), count / 2);
    }
}

} // namespace
