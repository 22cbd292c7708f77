// Kernel threads that are no workers.
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/fult.hpp>

#include "tests/support/asleep.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::spawn;
namespace this_task = fult::this_task;

class foreign_test : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};

    // Runs the body on a foreign thread while the main task lets the others run.
    template <class Body> void on_a_thread(Body body) {
        std::atomic<bool> over{false};
        std::thread thread([&] {
            body();
            over = true;
        });
        while (!over.load())
            this_task::yield();
        thread.join();
    }
};
INSTANTIATE_TEST_SUITE_P(workers, foreign_test, ::testing::Values(1u, 2u));

TEST_P(foreign_test, spawns_and_joins) {
    on_a_thread([] {
        EXPECT_EQ(spawn([] { return 3; }).join(), 3);
        EXPECT_EQ(spawn([] {
                      this_task::yield();
                      return std::string(1000, 'y');
                  }).join(),
                  std::string(1000, 'y'));
        EXPECT_THROW(spawn([] { throw std::runtime_error("thrown"); }).join(), std::runtime_error);
        std::array<int, 1000> big{};
        big[999] = 4;
        EXPECT_EQ(spawn([big] { return big; }).join()[999], 4);
        auto h = spawn([] { return 1; });
        fult::testing::spin_until([&] { return h.done(); });
        EXPECT_EQ(h.join(), 1);
    });
}

TEST_P(foreign_test, spawns_many) {
    std::atomic<int> ran{0};
    on_a_thread([&] {
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 3000; ++i)
            all.push_back(spawn([&] {
                spawn([&] { ran.fetch_add(1); }).join(); // children of a worker
                ran.fetch_add(1);
            }));
        for (int i = 0; i < 500; ++i)
            spawn([&] { ran.fetch_add(1); }).detach();
        for (auto &each : all)
            each.join();
    });
    while (ran.load() < 6500)
        this_task::yield();
    EXPECT_EQ(ran.load(), 6500);
}

TEST_P(foreign_test, gives_tasks_to_workers) {
    on_a_thread([&] {
        for (unsigned w = 0; w < GetParam(); ++w)
            for (int i = 0; i < 20; ++i) {
                EXPECT_EQ(fult::spawn_pinned(w,
                                             [] {
                                                 this_task::yield();
                                                 return this_task::worker();
                                             })
                              .join(),
                          w);
                EXPECT_EQ(fult::spawn_on(w, [] { return 1; }).join(), 1);
            }
    });
}

TEST_P(foreign_test, joins_a_task_of_a_worker) {
    auto of_main = spawn([] { return 5; });
    auto started = spawn([] {
        this_task::yield();
        return 6;
    });
    on_a_thread([&] {
        EXPECT_EQ(of_main.join(), 5);
        EXPECT_EQ(started.join(), 6);
    });
}

TEST_P(foreign_test, a_task_joins_one_of_a_foreign_thread) {
    fult::handle<int> h;
    on_a_thread([&] { h = spawn([] { return 8; }); });
    EXPECT_EQ(h.join(), 8);
}

// All workers sleep in the kernel; signals and spawns of a foreign thread wake them.
TEST_P(foreign_test, wakes_sleepers) {
    const int rounds = static_cast<int>(fult::testing::scaled(2000));
    const fult::task_id me = this_task::id();
    std::atomic<int> ball{0};
    std::thread foreign([&] {
        for (int i = 0; i < rounds; ++i) {
            ball = 2 * i + 1;
            i % 2 ? signal(me) : spawn([me] { signal(me); }).detach();
            fult::testing::spin_until([&] { return ball.load() == 2 * i + 2; });
            if (i % 64 == 0) // so that both cases are seen
                fult::testing::spin_until_asleep(GetParam());
        }
    });
    for (int i = 0; i < rounds; ++i) {
        while (ball.load() != 2 * i + 1)
            this_task::wait();
        ball = 2 * i + 2;
    }
    foreign.join();
    EXPECT_EQ(ball.load(), 2 * rounds);
}

TEST(foreign, without_a_runtime_spawn_reports_it) {
    try {
        spawn([] {}).join();
        ADD_FAILURE();
    } catch (const std::logic_error &error) {
        EXPECT_NE(std::string(error.what()).find("no runtime is running"), std::string::npos) << error.what();
    }
    EXPECT_THROW(fult::spawn_on(0, [] {}), std::logic_error);
    EXPECT_EQ(fult::worker_count(), 0u);
}

} // namespace
