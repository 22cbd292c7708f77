// Kernel threads that are no workers.
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/detail/service.hpp>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

#include "tests/support/asleep.hpp"
#include "tests/support/scale.hpp"
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
        for (int w = 0; w < static_cast<int>(GetParam()); ++w)
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
    EXPECT_THROW((void)fult::spawn_on(0, [] {}), std::logic_error);
    EXPECT_EQ(fult::worker_count(), 0);
}

// Foreign threads that do not know when runtimes begin and end. They are busiest where one does: a few calls
// each.
class beside_runtimes {
  public:
    template <class Body> void add(Body body) {
        threads_.emplace_back([this, body] {
            for (unsigned seen = 0; !over_;) {
                if (edges_ == seen) {
                    std::this_thread::yield();
                    continue;
                }
                seen = edges_;
                for (int i = 0; i < 3; ++i)
                    refused_or_not(body);
            }
        });
    }
    ~beside_runtimes() {
        for (std::size_t i = 0; i < fult::testing::scaled(100) + 5; ++i) {
            ++edges_;
            const fult::runtime running(fult::testing::workers(1 + i % 2));
            spawn([] {}).join();
            ++edges_;
        }
        over_ = true;
        for (std::thread &each : threads_)
            each.join();
    }

  private:
    template <class Body> static void refused_or_not(const Body &body) {
        try {
            body();
        } catch (const std::logic_error &refusal) {
            EXPECT_STREQ(refusal.what(), "fult: spawn: no runtime is running; start a fult::runtime first");
        }
    }

    std::atomic<bool> over_{false};
    std::atomic<unsigned> edges_{0};
    std::vector<std::thread> threads_;
};

TEST(runtimes_and_threads, a_spawn_is_refused_or_its_task_runs) {
    std::atomic<int> spawned{0}, ran{0};
    {
        beside_runtimes threads;
        threads.add([] { EXPECT_EQ(spawn([] { return 7; }).join(), 7); });
        threads.add([&] {
            spawn([&ran] { ++ran; }).detach();
            ++spawned;
        });
        threads.add([] {
            EXPECT_EQ(spawn({.name = "named", .worker = 0}, [] { return std::string(100, 'x'); }).join(),
                      std::string(100, 'x'));
        });
        threads.add([&] {
            fult::task_group group;
            group.spawn([&ran] { ++ran; });
            ++spawned;
            group.wait();
        });
    }
    EXPECT_EQ(spawned, ran);
}

TEST(runtimes_and_threads, calls_that_spawn_nothing_meet_a_runtime_or_none) {
    beside_runtimes threads;
    threads.add([] { EXPECT_LE(fult::worker_count(), 2); });
    threads.add([] { fult::trim(); });
    threads.add([] { EXPECT_LE(fult::visit_tasks([](const fult::task_description &) {}), 3u); });
    threads.add([] { EXPECT_FALSE(fult::detail::has_services()); });
}

// The waiting tasks are the last ones of their runtimes, which end as soon as they are woken.
TEST(runtimes_and_threads, a_wake_up_is_over_before_the_end) {
    const std::size_t rounds = fult::testing::scaled(100) + 5;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        fult::event set;
        std::atomic<bool> granted{false};
        std::thread setter;
        {
            const fult::runtime running(fult::testing::workers(1 + i % 2));
            auto last = spawn([&] {
                const fult::task_id me = this_task::id();
                setter = std::thread([&, me] {
                    if (i % 4 < 2) {
                        set.set();
                    } else {
                        granted = true;
                        signal(me);
                    }
                });
                if (i % 4 < 2)
                    set.wait();
                while (i % 4 >= 2 && !granted)
                    this_task::wait();
                if (i % 4 >= 2)
                    setter.join(); // the id is used while the task lives
                ++ended;
            });
            last.join();
        }
        if (setter.joinable())
            setter.join();
    }
    EXPECT_EQ(ended, rounds);
}

TEST(runtimes_and_threads, a_signal_without_a_runtime_is_a_misuse) {
    EXPECT_DEATH(
        {
            fult::task_id old;
            {
                const fult::runtime running(fult::testing::workers(1));
                old = this_task::id();
            }
            signal(old);
        },
        "fult: signal: no runtime is running");
}

} // namespace
