#include "tests/sync/crowd.hpp"

namespace {

using fult::barrier;
using fult::spawn;
namespace this_task = fult::this_task;

class barrier_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(barrier_test);

TEST_P(barrier_test, none_passes_before_all_have_arrived) {
    const std::size_t phases = fult::testing::scaled(1000);
    barrier<> here(size());
    std::vector<std::atomic<std::size_t>> at(size());
    all([&](unsigned i) {
        for (std::size_t p = 1; p <= phases; ++p) {
            at[i].store(p, std::memory_order_relaxed);
            here.arrive_and_wait();
            for (const auto &other : at) {
                const std::size_t seen = other.load(std::memory_order_relaxed);
                ASSERT_TRUE(seen == p || seen == p + 1);
            }
            here.arrive_and_wait();
        }
    });
}

TEST_P(barrier_test, completion_runs_once_a_phase_before_any_continues) {
    const std::size_t phases = fult::testing::scaled(500);
    std::size_t completed = 0; // plain: ordered by the barrier
    auto count = [&]() noexcept { ++completed; };
    barrier<decltype(count)> here(size(), count);
    all([&](unsigned) {
        for (std::size_t p = 0; p < phases; ++p) {
            here.arrive_and_wait();
            ASSERT_EQ(completed, 2 * p + 1);
            here.arrive_and_wait(); // the next phase is not completed before all have checked
        }
    });
    EXPECT_EQ(completed, 2 * phases);
}

TEST_P(barrier_test, arrive_and_wait_apart) {
    const std::size_t phases = fult::testing::scaled(300);
    barrier<> here(size());
    std::atomic<std::size_t> sum{0};
    all([&](unsigned i) {
        for (std::size_t p = 1; p <= phases; ++p) {
            sum.fetch_add(1);
            auto token = here.arrive();
            if ((i + p) % 3 == 0)
                yield_to_others();
            here.wait(std::move(token));
            ASSERT_GE(sum.load(), p * size());
        }
    });
    EXPECT_EQ(sum.load(), phases * size());
}

TEST_P(barrier_test, participants_drop_out) {
    barrier<> here(size());
    std::atomic<unsigned> passed{0};
    all([&](unsigned i) {
        for (unsigned p = 0; p < i; ++p) {
            here.arrive_and_wait();
            ++passed;
        }
        here.arrive_and_drop();
    });
    EXPECT_EQ(passed.load(), size() * (size() - 1) / 2);
}

// Pinned tasks, the main task and foreign threads wait in a queue of their own.
TEST_P(barrier_test, pinned_tasks) {
    const unsigned count = GetParam().workers + 2;
    barrier<> here(count);
    std::atomic<unsigned> arrivals{0};
    const auto arrive = [&] {
        for (unsigned phase = 1; phase <= 50; ++phase) {
            ++arrivals;
            here.arrive_and_wait();
            EXPECT_GE(arrivals.load(), phase * count);
        }
    };
    std::vector<fult::handle<void>> tasks;
    for (unsigned i = 0; i < GetParam().workers; ++i)
        tasks.emplace_back(fult::spawn_pinned(i, arrive));
    std::thread thread(arrive);
    arrive();
    join_all(tasks);
    thread.join();
}

// Early waiters escaped in 2018: a child's end woke its parent out of the barrier.
TEST_P(barrier_test, a_childs_end_is_no_grant) {
    for (std::size_t r = 0; r < fult::testing::scaled(100); ++r) {
        barrier<> here(2);
        std::atomic<bool> child_ended{false}, arrived{false};
        auto waiter = spawn([&] {
            auto child = fult::testing::signaling_child(child_ended);
            here.arrive_and_wait();
            EXPECT_TRUE(arrived.load());
            child.join();
        });
        while (!child_ended.load())
            this_task::yield();
        arrived = true;
        here.arrive_and_wait();
        waiter.join();
    }
}

TEST_P(barrier_test, may_be_destroyed_by_any_that_passed) {
    for (std::size_t r = 0; r < fult::testing::scaled(300); ++r) {
        auto here = std::make_unique<barrier<>>(4);
        std::atomic<int> passed{0};
        std::vector<fult::handle<void>> tasks;
        for (int i = 0; i < 4; ++i)
            tasks.emplace_back(spawn([&] {
                here->arrive_and_wait();
                if (passed.fetch_add(1) == 3)
                    here.reset();
            }));
        join_all(tasks);
        ASSERT_EQ(here, nullptr);
    }
}

TEST(barrier, misuse_is_reported) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_THROW(barrier<>(0), std::invalid_argument);
    EXPECT_THROW(barrier<>(-3), std::invalid_argument);
    EXPECT_DEATH((void)barrier<>(1).arrive(2), "barrier::arrive: more arrivals");
}

} // namespace
