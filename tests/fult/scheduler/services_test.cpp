#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/detail/service.hpp>
#include <fult/fult.hpp>

#include "fult/scheduler/services.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace std::chrono_literals;

// Something outside of the runtime that signals a task when it is rung.
class bell_service final : public fult::detail::service {
  public:
    bell_service() : descriptor_(::eventfd(0, EFD_NONBLOCK)) {}
    bell_service(const bell_service &) = delete;
    bell_service &operator=(const bell_service &) = delete;
    ~bell_service() { ::close(descriptor_); }

    void ring() {
        rings.fetch_add(1);
        ::eventfd_write(descriptor_, 1);
    }
    // For rings while no thread sleeps on the descriptor.
    void ring_silently() { rings.fetch_add(1); }

    bool poll() noexcept override {
        polls.fetch_add(1, std::memory_order_relaxed);
        std::uint64_t seen = served.load();
        const std::uint64_t now = rings.load();
        if (now == seen || !served.compare_exchange_strong(seen, now))
            return false;
        if (waiter)
            fult::signal(waiter);
        return true;
    }
    bool prepare_sleep() noexcept override {
        sleeps.fetch_add(1);
        asleep = rings.load() == served.load();
        return asleep;
    }
    void end_sleep() noexcept override {
        asleep = false;
        eventfd_t count = 0;
        ::eventfd_read(descriptor_, &count);
    }
    int descriptor() const noexcept override { return has_descriptor ? descriptor_ : -1; }
    int patience() const noexcept override { return milliseconds; }

    fult::task_id waiter;
    std::atomic<std::uint64_t> rings{0}, served{0}, polls{0}, sleeps{0};
    std::atomic<bool> asleep{false}; // the watcher sleeps, or is about to
    bool has_descriptor = true;
    int milliseconds = -1;

  private:
    int descriptor_;
};

void until_it_sleeps(const bell_service &bell) {
    fult::testing::spin_until([&] { return bell.asleep.load(); });
}

class services : public ::testing::TestWithParam<unsigned> {};

// A task waits; a foreign thread rings when all workers are asleep, again and again.
TEST_P(services, a_sleeping_runtime_hears_the_descriptor) {
    fult::runtime rt(fult::testing::workers(GetParam()));
    bell_service bell;
    bell.waiter = fult::this_task::id();
    fult::detail::add_service(bell);
    const std::uint64_t rounds = fult::testing::scaled(50);
    std::thread outside([&] {
        for (std::uint64_t i = 0; i < rounds; ++i) {
            while (bell.served.load() != i)
                std::this_thread::yield();
            if (i % 2 == 0)
                until_it_sleeps(bell);
            bell.ring();
        }
    });
    fult::this_task::wait([&] { return bell.served.load() == rounds; });
    outside.join();
    fult::detail::remove_service(bell);
    EXPECT_EQ(bell.served.load(), rounds);
    EXPECT_GT(bell.sleeps.load(), 0U);
}

// One that has no descriptor is polled within its patience.
TEST_P(services, one_without_a_descriptor_is_polled) {
    fult::runtime rt(fult::testing::workers(GetParam()));
    bell_service bell;
    bell.has_descriptor = false;
    bell.milliseconds = 1;
    bell.waiter = fult::this_task::id();
    fult::detail::add_service(bell);
    std::thread outside([&] {
        until_it_sleeps(bell);
        bell.ring_silently();
    });
    fult::this_task::wait([&] { return bell.served.load() == 1; });
    outside.join();
    fult::detail::remove_service(bell);
    EXPECT_EQ(bell.served.load(), 1U);
}

// Workers that always have something to run poll too.
TEST_P(services, busy_workers_poll) {
    fult::runtime rt(fult::testing::workers(GetParam()));
    bell_service bell;
    fult::detail::add_service(bell);
    std::vector<fult::handle<void>> tasks;
    for (unsigned i = 0; i < 4 * GetParam(); ++i)
        tasks.push_back(fult::spawn([&] {
            while (bell.served.load() == 0)
                fult::this_task::yield();
        }));
    bell.ring_silently();
    fult::join_all(tasks);
    fult::detail::remove_service(bell);
    EXPECT_EQ(bell.served.load(), 1U);
}

// The watcher sleeps on descriptors; signals to tasks also wake it.
TEST_P(services, signals_wake_the_watcher) {
    fult::runtime rt(fult::testing::workers(GetParam()));
    bell_service bell;
    fult::detail::add_service(bell);
    std::atomic<unsigned> turn{0};
    const fult::task_id main = fult::this_task::id();
    const auto rounds = static_cast<unsigned>(fult::testing::scaled(50));
    std::thread outside([&] {
        for (unsigned i = 1; i <= rounds; ++i) {
            if (i < 10)
                until_it_sleeps(bell);
            turn.store(i);
            fult::signal(main);
        }
    });
    fult::this_task::wait([&] { return turn.load() == rounds; });
    outside.join();
    fult::detail::remove_service(bell);
    EXPECT_EQ(turn.load(), rounds);
    EXPECT_EQ(bell.served.load(), 0U);
}

// After remove no worker is inside any more: the service may be destroyed.
TEST_P(services, come_and_go_while_workers_poll) {
    fult::runtime rt(fult::testing::workers(GetParam()));
    for (std::size_t i = 0; i < fult::testing::scaled(100); ++i) {
        auto bell = std::make_unique<bell_service>();
        fult::detail::add_service(*bell);
        bell->ring();
        auto other = fult::spawn([] { fult::this_task::yield(); });
        if (i % 3 == 0)
            fult::this_task::yield();
        fult::detail::remove_service(*bell);
        const std::uint64_t polls = bell->polls.load();
        other.join();
        EXPECT_EQ(bell->polls.load(), polls);
    }
}

// One worker blocks in a call that the runtime does not know, and the other one computes until the service
// has been polled: only the foreign thread that waits for the end of that task can do it.
void a_waiting_thread_polls(const std::function<void(std::function<void()>)> &wait_for) {
    fult::runtime rt(fult::testing::workers(2));
    bell_service bell;
    fult::detail::add_service(bell);
    std::atomic<bool> computes{false};
    std::thread foreign([&] {
        wait_for([&] {
            computes = true;
            fult::testing::spin_until([&] { return bell.served.load() == 1; });
        });
    });
    fult::testing::spin_until([&] { return computes.load(); });
    bell.ring();
    foreign.join();
    fult::detail::remove_service(bell);
    EXPECT_EQ(bell.served.load(), 1U);
}

TEST(services_of_waiting_threads, a_join_polls) {
    a_waiting_thread_polls([](auto body) { fult::spawn_pinned(1, std::move(body)).join(); });
}

TEST(services_of_waiting_threads, a_join_of_all_polls) {
    a_waiting_thread_polls([](auto body) {
        std::vector<fult::handle<void>> all;
        all.push_back(fult::spawn_pinned(1, std::move(body)));
        fult::join_all(all);
    });
}

TEST(services_of_waiting_threads, a_wait_for_any_polls) {
    a_waiting_thread_polls([](auto body) {
        std::vector<fult::handle<void>> all;
        all.push_back(fult::spawn_pinned(1, std::move(body)));
        fult::wait_any(all);
        all[0].join();
    });
}

TEST(services_of_waiting_threads, a_wait_for_a_group_polls) {
    a_waiting_thread_polls([](auto body) {
        fult::task_group group;
        group.spawn({.worker = 1, .pinned = true}, std::move(body));
        group.wait();
    });
}

INSTANTIATE_TEST_SUITE_P(workers, services, ::testing::Values(1U, 2U, 8U));

TEST(services_limits, there_is_room_for_some_and_an_error_for_more) {
    fult::runtime rt(fult::testing::workers(1));
    std::vector<std::unique_ptr<bell_service>> bells;
    for (unsigned i = 0; i < fult::detail::services::capacity; ++i) {
        bells.push_back(std::make_unique<bell_service>());
        fult::detail::add_service(*bells.back());
    }
    bell_service more;
    EXPECT_THROW(fult::detail::add_service(more), std::length_error);
    for (auto &each : bells)
        fult::detail::remove_service(*each);
}

TEST(services_limits, without_a_runtime_no_worker_polls) {
    bell_service bell;
    EXPECT_THROW(fult::detail::add_service(bell), std::logic_error);
    EXPECT_FALSE(fult::detail::others_ready());
}

// Spawns a task for each ring.
class spawning_service final : public fult::detail::service {
  public:
    spawning_service() : descriptor_(::eventfd(0, EFD_NONBLOCK)) {}
    spawning_service(const spawning_service &) = delete;
    spawning_service &operator=(const spawning_service &) = delete;
    ~spawning_service() { ::close(descriptor_); }

    void ring() { ::eventfd_write(descriptor_, 1); }
    bool poll() noexcept override {
        eventfd_t count = 0;
        if (::eventfd_read(descriptor_, &count) != 0)
            return false;
        fult::spawn([this] {
            ran.fetch_add(1);
            if (const auto to = waiter.load())
                fult::signal(fult::task_id::from_value(to));
        }).detach();
        return true;
    }
    bool prepare_sleep() noexcept override { return true; }
    void end_sleep() noexcept override {}
    int descriptor() const noexcept override { return descriptor_; }
    int patience() const noexcept override { return -1; }

    std::atomic<std::uintptr_t> waiter{0};
    std::atomic<std::uint64_t> ran{0};

  private:
    int descriptor_;
};

// While the main task waits for the end of all others it counts the tasks of workers that sleep. The watcher
// counts as asleep, and spawns.
TEST_P(services, tasks_are_spawned_while_the_runtime_ends) {
    const std::uint64_t rings = fult::testing::scaled(100);
    for (int round = 0; round < 3; ++round) {
        spawning_service bell;
        std::thread outside([&] {
            for (std::uint64_t i = 0; i < rings; ++i) {
                while (bell.ran.load() != i || bell.waiter.load() == 0)
                    std::this_thread::yield();
                // time: either order is right
                std::this_thread::sleep_for(std::chrono::microseconds(100 * (i % 8))); // the watcher sleeps
                bell.ring();
            }
        });
        {
            fult::runtime rt(fult::testing::workers(GetParam()));
            fult::spawn([&] {
                fult::detail::add_service(bell);
                bell.waiter = fult::this_task::id().value();
                fult::this_task::wait([&] { return bell.ran.load() == rings; });
                fult::detail::remove_service(bell);
            }).detach();
        }
        outside.join();
        EXPECT_EQ(bell.ran.load(), rings);
    }
}

} // namespace
