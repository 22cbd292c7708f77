// The memory of a burst of tasks is returned to the system.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

#include "fult/scheduler/worker.hpp"
#include "tests/support/ends.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

constexpr std::size_t mebibyte = 1024 * 1024;

std::size_t resident() {
    std::size_t all = 0, pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%zu %zu", &all, &pages) != 2)
            pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// Repeats `meanwhile` until at most `bytes` are resident: it never ends if the memory is not returned.
template <class Meanwhile> void until_at_most(std::size_t bytes, const Meanwhile &meanwhile) {
    fult::testing::expect_ends([&] {
        while (resident() > bytes)
            meanwhile();
    });
}

// So many tasks that live at once, each with a stack of its own.
void burst(std::size_t count) {
    fult::event open;
    std::atomic<std::size_t> started{0};
    std::vector<fult::handle<void>> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([&] {
            char pages[6000];
            volatile char *volatile used = pages; // or a compiler keeps the two bytes that it sees
            used[0] = 1;
            started.fetch_add(1);
            open.wait();
            used[5999] = used[0];
        }));
    while (started.load() < count)
        this_task::yield();
    open.set();
    fult::join_all(all);
}

struct trimming : ::testing::Test {
    void SetUp() override {
        if (fult::testing::sanitized || fult::testing::under_valgrind() || fult::testing::emulated())
            GTEST_SKIP() << "the tool keeps memory of its own";
    }
};

TEST_F(trimming, by_call) {
    fult::options o = workers(2);
    o.trim_after = 0;
    const runtime running(o);
    burst(100);
    const std::size_t before = resident();
    burst(8000);
    const std::size_t full = resident();
    ASSERT_GT(full, before + 50 * mebibyte);   // 8000 stacks of two pages or more
    until_at_most(before + 16 * mebibyte, [] { // the other worker trims its part itself
        fult::trim();
        this_task::yield();
    });
    burst(1000); // and all works as before
}

TEST_F(trimming, of_a_million_descriptors) {
    fult::options o = workers(1);
    o.trim_after = 0;
    const runtime running(o);
    const std::size_t before = resident();
    {
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 1'000'000; ++i)
            all.push_back(spawn([] {}));
        ASSERT_GT(resident(), before + 100 * mebibyte);
        fult::join_all(all);
    }
    fult::trim();
    EXPECT_LT(resident(), before + 24 * mebibyte);
    std::vector<fult::handle<int>> all; // the descriptors are as good as new
    for (int i = 0; i < 100'000; ++i)
        all.push_back(spawn([i] { return i; }));
    for (int i = 0; i < 100'000; ++i)
        ASSERT_EQ(all[static_cast<std::size_t>(i)].join(), i);
}

TEST_F(trimming, by_a_worker_that_sleeps_for_long) {
    fult::options o = workers(2);
    o.trim_after = 10;
    const runtime running(o);
    burst(100);
    const std::size_t before = resident();
    burst(8000);
    std::atomic<bool> over{false};
    const fult::task_id self = this_task::id();
    std::thread watcher([&] {
        until_at_most(before + 16 * mebibyte, [] {
            std::this_thread::sleep_for(std::chrono::milliseconds(5)); // time: between polls
        });
        over.store(true);
        fult::signal(self);
    });
    while (!over.load())
        this_task::wait();
    watcher.join();
    burst(1000);
}

TEST_F(trimming, of_stacks_in_a_program_that_never_sleeps) {
    fult::options o = workers(1);
    o.trim_after = 10;
    const runtime running(o);
    burst(100);
    const std::size_t before = resident();
    burst(8000);
    until_at_most(before + 32 * mebibyte, [] { burst(200); });
}

// A trim is requested just after a thief has taken the task that the owner joins next: the thief keeps it.
TEST(trim_and_revoke, a_task_that_was_taken_is_not_run_again) {
    const runtime running(workers(2));
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> occupied{false}, spawned{false};
        std::atomic<int> runs{0};
        auto thief = fult::spawn_on(1, [&] {
            fult::detail::worker &victim = *fult::detail::running_team()->homes[0];
            occupied.store(true);
            fult::testing::spin_until([&] { return spawned.load(); });
            fult::trim();
            victim.tasks.revoke();
        });
        fult::testing::spin_until([&] { return occupied.load(); });
        auto child = spawn([&] { runs.fetch_add(1); });
        spawned.store(true);
        fult::testing::spin_until([&] { return runs.load() != 0; }); // it runs on worker 1
        child.join();
        thief.join();
        ASSERT_EQ(runs.load(), 1);
    }
}

TEST(trim_and_revoke, trees_while_another_thread_trims) {
    const runtime running(workers(2));
    std::atomic<bool> over{false};
    std::thread trimmer([&] {
        while (!over.load())
            fult::trim();
    });
    std::atomic<int> runs{0};
    const int tasks = static_cast<int>(fult::testing::scaled(20'000));
    for (int i = 0; i < tasks; ++i) {
        auto one = spawn([&] { runs.fetch_add(1); });
        auto two = spawn([&] {
            spawn([&] { runs.fetch_add(1); }).join();
            this_task::yield();
        });
        two.join();
        one.join();
    }
    over.store(true);
    trimmer.join();
    EXPECT_EQ(runs.load(), 2 * tasks);
}

// An emulator keeps books on each address that was ever mapped: runtimes at new addresses each took 120 MB
// there.
TEST(memory, of_runtimes_that_ended_is_not_kept) {
    const auto run = [] {
        const fult::runtime rt(fult::testing::workers(4));
        EXPECT_EQ(fult::spawn([] { return 7; }).join(), 7);
    };
    for (int i = 0; i < 4; ++i)
        run();
    const std::size_t before = resident();
    for (int i = 0; i < 16; ++i)
        run();
    EXPECT_LT(resident(), before + 256 * mebibyte);
}

} // namespace
