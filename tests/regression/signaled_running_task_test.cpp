// Then: the bit of a running task that was signaled was posted again and again, and thieves looked at nothing
// else. Now: the signal is retained in the descriptor.
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
namespace this_task = fult::this_task;

class signaled_running_task : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(private_words, signaled_running_task, ::testing::Bool());

TEST_P(signaled_running_task, does_not_stop_stealing) {
    fult::options o = fult::testing::workers(2);
    o.private_words = GetParam();
    const fult::runtime running(o);
    for (int round = 0; round < 50; ++round) {
        // an unpinned task with the oldest slot, so that its bit is what thieves come to first
        auto runner = spawn([&] {
            const fult::task_id me = this_task::id();
            std::atomic<int> ran{0};
            std::vector<fult::handle<void>> all;
            for (int i = 0; i < 20; ++i) {
                all.push_back(spawn([&, mine = this_task::worker()] {
                    EXPECT_NE(this_task::worker(), mine);
                    ran.fetch_add(1);
                }));
                signal(me);
            }
            fult::testing::spin_until([&] {
                signal(me);
                return ran.load() == 20; // only the other worker can have run them
            });
            join_all(all);
        });
        runner.join();
    }
}

TEST_P(signaled_running_task, gets_its_signal_at_its_next_wait) {
    fult::options o = fult::testing::workers(2);
    o.private_words = GetParam();
    const fult::runtime running(o);
    for (std::size_t i = 0; i < fult::testing::scaled(5000); ++i) {
        const fult::task_id me = this_task::id();
        std::atomic<bool> sent{false};
        auto sender = fult::spawn_pinned(1, [&] {
            signal(me);
            sent = true;
        });
        fult::testing::spin_until([&] { return sent.load(); }); // runs on while it is signaled
        fult::testing::expect_ends([] { this_task::wait(); });
        sender.join();
    }
}

} // namespace
