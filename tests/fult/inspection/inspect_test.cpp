// Inspecting tasks from within the program: visit_tasks, dump_tasks, and a signal.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

#include "tests/support/restarting_test.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::runtime;
using fult::spawn;
using fult::task_description;
using fult::task_status;
using fult::testing::workers;
namespace this_task = fult::this_task;

std::string dump() {
    std::ostringstream text;
    fult::dump_tasks(text);
    return text.str();
}

// Yields until `count` tasks wait for that kind of object.
void until_waiting(std::size_t count, const std::string &what) {
    for (std::size_t seen = 0; seen != count; this_task::yield()) {
        seen = 0;
        fult::visit_tasks([&](const task_description &t) {
            if (t.status == task_status::waiting && (t.waits_for ? t.waits_for : "signal") == what)
                ++seen;
        });
    }
}

[[gnu::noinline]] void a_function_that_waits(fult::qlock &lock) {
    const std::lock_guard hold(lock);
    asm volatile("");
}

TEST(inspect, without_a_runtime_there_is_nothing_to_see) {
    EXPECT_EQ(fult::visit_tasks([](const task_description &) { FAIL(); }), 0u);
    EXPECT_EQ(dump(), "fult: 0 tasks: 0 running, 0 ready, 0 waiting, 0 blocked\n");
    fult::trim();
}

TEST(inspect, the_main_task_runs_and_an_unstarted_one_may_start) {
    const runtime running(workers(1));
    auto child = spawn({.name = "child"}, [] {});
    std::map<std::string, task_status> seen;
    EXPECT_EQ(fult::visit_tasks([&](const task_description &t) {
                  seen[std::string(t.name)] = t.status;
                  EXPECT_EQ(t.home, 0);
                  EXPECT_EQ(t.worker, t.name == "main" ? 0 : -1);
                  EXPECT_EQ(t.started, t.name == "main");
              }),
              2u);
    EXPECT_EQ(seen, (std::map<std::string, task_status>{{"main", task_status::running},
                                                        {"child", task_status::ready}}));
    child.join();
}

TEST(inspect, a_waiting_task_is_shown_with_its_object_and_its_stack) {
    for (const unsigned count : {1u, 2u}) {
        const runtime running(workers(count));
        fult::qlock lock;
        lock.lock();
        auto child = spawn({.name = "child"}, [&] { a_function_that_waits(lock); });
        until_waiting(1, "qlock");
        fult::visit_tasks([&](const task_description &t) {
            if (t.name != "child")
                return;
            EXPECT_EQ(t.id, child.id());
            EXPECT_EQ(t.object, &lock);
            EXPECT_TRUE(t.started);
            EXPECT_FALSE(t.timed);
            EXPECT_GT(t.stack_used, 0u);
            EXPECT_LT(t.stack_used, t.stack_size);
            EXPECT_GE(t.frames.size(), 3u);
        });
        const std::string text = dump();
        EXPECT_NE(text.find("1 task waits for qlock at"), text.npos) << text;
        EXPECT_NE(text.find("'child'"), text.npos) << text;
        EXPECT_NE(text.find("a_function_that_waits"), text.npos) << text;
        EXPECT_NE(text.find("fult::qlock::lock"), text.npos) << text;
        lock.unlock();
        child.join();
    }
}

TEST(inspect, each_kind_of_wait_has_its_name) {
    const runtime running(workers(1));
    fult::latch latch(1);
    fult::event event;
    fult::barrier<> barrier(2);
    fult::counting_semaphore<> semaphore(0);
    fult::shared_qlock shared;
    fult::channel<int> channel(1);
    fult::full_empty<int> word;
    fult::promise<int> promise;
    auto future = promise.get_future();
    shared.lock();
    std::atomic<bool> done{false};
    std::vector<fult::handle<void>> all;
    all.push_back(spawn([&] { latch.wait(); }));
    all.push_back(spawn([&] { event.wait(); }));
    all.push_back(spawn([&] { barrier.arrive_and_wait(); }));
    all.push_back(spawn([&] { semaphore.acquire(); }));
    all.push_back(spawn([&] { shared.lock_shared(); }));
    all.push_back(spawn([&] { (void)channel.receive(); }));
    all.push_back(spawn([&] { (void)word.readFE(); }));
    all.push_back(spawn([&] { (void)future.get(); }));
    auto by_signal = spawn([&] {
        while (!done.load())
            this_task::wait();
    });
    until_waiting(1, "signal");
    for (const char *what : {"latch", "event", "barrier", "semaphore", "shared_qlock", "channel (to receive)",
                             "full_empty", "future"})
        until_waiting(1, what);
    const std::string text = dump();
    for (const char *what : {"a signal", "latch", "event", "barrier", "semaphore", "shared_qlock", "channel",
                             "full_empty", "future"})
        EXPECT_NE(text.find(std::string("1 task waits for ") + what), text.npos) << what << text;
    latch.count_down();
    event.set();
    barrier.arrive_and_wait();
    semaphore.release();
    shared.unlock();
    (void)channel.send(1);
    word.writeEF(1);
    promise.set_value(1);
    done = true;
    fult::signal(by_signal.id());
    by_signal.join();
    fult::join_all(all);
}

TEST(inspect, a_joiner_gets_its_partner) {
    const runtime running(workers(1));
    fult::event open;
    fult::task_id inner_id;
    auto outer = spawn({.name = "outer"}, [&] {
        std::atomic<bool> started{false};
        auto inner = spawn([&] {
            started.store(true);
            open.wait();
        });
        inner_id = inner.id();
        while (!started.load()) // so that it has a stack of its own
            this_task::yield();
        inner.join();
    });
    auto blocked =
        spawn({.name = "blocked"}, [&] { spawn([&] { open.wait(); }).join(); }); // on its own stack
    until_waiting(1, "join");
    until_waiting(2, "event");
    unsigned seen = 0;
    fult::visit_tasks([&](const task_description &t) {
        if (t.name == "outer") {
            EXPECT_EQ(t.joins, inner_id);
            EXPECT_EQ(t.status, task_status::waiting);
            ++seen;
        } else if (t.name == "blocked") {
            EXPECT_EQ(t.status, task_status::joining_inline);
            EXPECT_TRUE(t.joins);
            ++seen;
        }
    });
    EXPECT_EQ(seen, 2u);
    open.set();
    outer.join();
    blocked.join();
}

TEST(inspect, equal_stacks_are_one_group) {
    const runtime running(workers(2));
    const std::size_t count = fult::testing::scaled(20000) / 10;
    fult::event open;
    std::vector<fult::handle<void>> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([&] { open.wait(); }));
    until_waiting(count, "event");
    const std::string text = dump();
    EXPECT_NE(text.find(std::to_string(count) + " tasks wait for event at"), text.npos) << text;
    open.set();
    fult::join_all(all);
}

TEST(inspect, a_barrier_says_how_many_have_arrived) {
    const runtime running(workers(1));
    fult::barrier<> all(4);
    std::vector<fult::handle<void>> waiting;
    for (int i = 0; i < 2; ++i)
        waiting.push_back(spawn([&] { all.arrive_and_wait(); }));
    until_waiting(2, "barrier");
    (void)all.arrive(); // without waiting
    const std::string text = dump();
    EXPECT_NE(text.find("2 tasks wait for barrier at"), text.npos) << text;
    EXPECT_NE(text.find("(3 of 4 have arrived)"), text.npos) << text;
    all.arrive_and_wait();
    fult::join_all(waiting);
}

TEST(inspect, tasks_of_one_place_have_details_of_their_own) {
    const runtime running(workers(1));
    const std::size_t count = 200;
    std::vector<std::unique_ptr<fult::barrier<>>> barriers;
    std::vector<fult::handle<void>> waiting;
    for (std::size_t i = 0; i < count; ++i) {
        barriers.push_back(std::make_unique<fult::barrier<>>(3));
        waiting.push_back(spawn([&here = *barriers.back()] { here.arrive_and_wait(); }));
    }
    until_waiting(count, "barrier");
    (void)barriers.front()->arrive();
    std::size_t described = 0;
    fult::visit_tasks([&](const task_description &t) { described += t.detail != nullptr; });
    EXPECT_EQ(described, count);
    const std::string text = dump();
    EXPECT_NE(text.find("200 tasks wait for barrier:\n"), text.npos) << text;
    EXPECT_NE(text.find(": 2 of 3 have arrived\n    "), text.npos) << text;
    EXPECT_NE(text.find(": 1 of 3 have arrived\n    "), text.npos) << text;
    EXPECT_NE(text.find("\n    and 194 more\n"), text.npos) << text;
    (void)barriers.front()->arrive();
    for (std::size_t i = 1; i < count; ++i)
        (void)barriers[i]->arrive(2);
    fult::join_all(waiting);
}

TEST(inspect, nothing_is_lost_by_looking) {
    // tasks that yield, wait and are signaled while two threads inspect them repeatedly
    const runtime running(workers(2));
    std::atomic<bool> stop{false};
    std::vector<std::thread> lookers;
    std::atomic<unsigned> looks{0};
    for (int i = 0; i < 2; ++i)
        lookers.emplace_back([&] {
            while (!stop.load()) {
                fult::visit_tasks([](const task_description &t) {
                    EXPECT_LT(t.name.size(), 20u);
                    EXPECT_LE(t.frames.size(), 64u);
                });
                looks.fetch_add(1);
            }
        });
    const std::size_t rounds = fult::testing::scaled(3000);
    fult::qlock lock;
    std::size_t sum = 0;
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 8; ++i)
        all.push_back(spawn({.name = i % 2 ? "named" : ""}, [&, i] {
            for (std::size_t round = 0; round < rounds; ++round) {
                {
                    const std::lock_guard hold(lock);
                    ++sum;
                }
                std::atomic<bool> came{false};
                const fult::task_id self = this_task::id();
                auto other = spawn({.name = "other"}, [&] {
                    came.store(true);
                    fult::signal(self);
                });
                if (i % 3 == 0)
                    this_task::yield();
                while (!came.load())
                    this_task::wait();
                other.join();
            }
        }));
    fult::join_all(all);
    EXPECT_EQ(sum, 8 * rounds);
    while (looks.load() < 4)
        std::this_thread::yield();
    stop = true;
    for (std::thread &each : lookers)
        each.join();
}

// What a task that is on no other list does: its join runs a task on its stack, whatever that one does.
std::map<std::string, task_status> all_by_name() {
    std::map<std::string, task_status> seen;
    fult::visit_tasks([&](const task_description &t) {
        EXPECT_TRUE(seen.emplace(t.name, t.status).second) << t.name << " is shown twice";
    });
    return seen;
}

TEST(inspect, tasks_below_one_that_may_resume_are_shown) {
    for (const bool is_private : {true, false}) {
        fult::options o = workers(1);
        o.private_words = is_private;
        const runtime running(o);
        std::map<std::string, task_status> seen;
        spawn({.name = "inner"}, [&] {
            spawn({.name = "looks"}, [&] { seen = all_by_name(); }).detach();
            this_task::yield();
        }).join();
        EXPECT_EQ(seen, (std::map<std::string, task_status>{{"main", task_status::joining_inline},
                                                            {"inner", task_status::ready},
                                                            {"looks", task_status::running}}));
    }
}

TEST(inspect, tasks_below_one_that_was_handed_off_are_shown) {
    const runtime running(workers(1));
    std::map<std::string, task_status> seen;
    fult::qlock lock;
    lock.lock();
    spawn({.name = "inner"}, [&] {
        spawn({.name = "looks"}, [&] {
            lock.unlock(); // the next owner waits for this worker's next decision
            seen = all_by_name();
        }).detach();
        const std::lock_guard guard(lock);
    }).join();
    EXPECT_EQ(seen, (std::map<std::string, task_status>{{"main", task_status::joining_inline},
                                                        {"inner", task_status::ready},
                                                        {"looks", task_status::running}}));
}

TEST(inspect, where_a_task_was_spawned) {
    fult::options o = workers(2);
    o.spawn_sites = true;
    const runtime running(o);
    fult::event open;
    std::vector<fult::handle<void>> all;
    all.push_back(spawn([&] { open.wait(); }));
    all.push_back(spawn({.name = "named"}, [&] { open.wait(); }));
    std::thread([&] { all.push_back(spawn([&] { open.wait(); })); }).join();
    until_waiting(3, "event");
    unsigned with_site = 0;
    fult::visit_tasks([&](const task_description &t) { with_site += t.spawned_at.empty() ? 0 : 1; });
    EXPECT_EQ(with_site, 3u); // all but the main task
    EXPECT_NE(dump().find("spawned at "), std::string::npos);
    open.set();
    fult::join_all(all);
    // spawn and join continue to work
    std::size_t sum = 0;
    for (std::size_t i = 0; i < 1000; ++i)
        sum += spawn([i] { return i; }).join();
    EXPECT_EQ(sum, 499500u);
}

// The inspecting thread visits a running task that ends during the visit; a group's task that has not begun
// has its slot.
TEST(inspect, a_running_task_may_end_and_its_slot_be_a_groups) {
    const runtime running(workers(1));
    std::atomic<int> step{0};
    const auto until = [&](int which) { fult::testing::spin_until([&] { return step.load() >= which; }); };
    std::thread looker([&] {
        until(1);
        fult::visit_tasks([&](const task_description &t) {
            if (t.name == "victim" && step.load() == 1) {
                step.store(2);
                until(3);
            }
        });
        step.store(4);
    });
    fult::task_id ended;
    auto victim = spawn({.name = "victim"}, [&] {
        ended = this_task::id();
        step.store(1);
        until(2);
    });
    victim.join();
    fult::task_group group;
    std::atomic<int> ran{0};
    for (int i = 0; i < 64; ++i) // one of them has the slot
        group.spawn([&] { ++ran; });
    step.store(3);
    until(4);
    group.wait();
    EXPECT_EQ(ran, 64);
    looker.join();
}

TEST(inspect, a_pinned_tasks_id_is_the_one_to_signal) {
    const runtime running(workers(2));
    std::atomic<bool> done{false};
    auto pinned = fult::spawn_pinned(1, [&] {
        while (!done.load())
            this_task::wait();
    });
    for (unsigned seen = 0; seen == 0; this_task::yield())
        fult::visit_tasks([&](const task_description &t) {
            if (t.slot == 1 && t.home == 0)
                return; // the main task
            EXPECT_EQ(t.id, pinned.id());
            seen += t.status == task_status::waiting ? 1 : 0;
        });
    done.store(true);
    fult::signal(pinned.id());
    pinned.join();
}

TEST(inspect, the_smallest_table) {
    fult::options o = workers(2);
    o.max_tasks = 64;
    const runtime running(o);
    auto child = spawn([] {});
    EXPECT_GE(fult::visit_tasks([](const task_description &) {}), 1u);
    child.join();
}

// Tasks of every kind begin and end while others inspect them.
TEST(inspect, any_moment_will_do) {
    const runtime running(workers(2));
    std::atomic<bool> stop{false};
    std::atomic<unsigned> looks{0};
    std::thread looker([&] {
        while (!stop.load()) {
            EXPECT_NE(dump(), "");
            ++looks;
        }
    });
    fult::qlock lock;
    fult::task_local_ptr<int> local;
    int value = 0;
    std::atomic<std::size_t> ended{0};
    const auto round = [&](unsigned i) {
        fult::task_group group;
        for (unsigned n = 0; n < 6; ++n)
            group.spawn([&, n] {
                const std::lock_guard hold(lock);
                if (n % 2 == 0)
                    local.set(&value);
                if (n % 3 == 0)
                    this_task::yield();
            });
        group.spawn({.name = "a name too long to lie within its string"}, [] {});
        auto timed =
            // time: either order is right
            spawn({.stack_size = 1 << 18}, [] { this_task::sleep_for(std::chrono::microseconds(1)); });
        auto inner = spawn([&] { spawn([&] { local.set(&value); }).join(); });
        if (i % 2 == 0)
            inner.join();
        group.wait();
        timed.join();
        ended.fetch_add(1);
    };
    const std::size_t rounds = fult::testing::scaled(2000);
    std::vector<fult::handle<void>> all;
    for (unsigned n = 0; n < 4; ++n)
        all.push_back(spawn([&] {
            for (unsigned i = 0; i < rounds || looks.load() < 4; ++i)
                round(i);
        }));
    fult::join_all(all);
    stop = true;
    looker.join();
    EXPECT_GE(ended, 4 * rounds);
}

using inspect_restarting = fult::testing::restarting_test;
TEST_F(inspect_restarting, a_signal_has_all_tasks_reported) {
    EXPECT_EXIT(
        {
            fult::options o = workers(2);
            o.dump_signal = SIGUSR1;
            {
                const runtime running(o);
                spawn({.name = "child"}, [] { ::raise(SIGUSR1); }).join();
                ::kill(::getpid(), SIGUSR1);
            } // the requested report is written before the end
            ::_exit(7);
        },
        ::testing::ExitedWithCode(7), "fult: [0-9]+ tasks: .*'main'");
}

TEST_F(inspect_restarting, reports_by_signal_while_groups_come_and_go) {
    EXPECT_EXIT(
        {
            fult::options o = workers(2);
            o.dump_signal = SIGUSR1;
            {
                const runtime running(o);
                for (std::size_t i = 0; i < fult::testing::scaled(2000) + 50; ++i) {
                    if (i % 50 == 0)
                        ::kill(::getpid(), SIGUSR1);
                    fult::task_group group;
                    for (int n = 0; n < 20; ++n)
                        group.spawn([] { spawn([] { this_task::yield(); }).join(); });
                    group.wait();
                }
            }
            ::_exit(7);
        },
        ::testing::ExitedWithCode(7), "fult: [0-9]+ tasks: ");
}

// Before a runtime starts, by the variable, and after it has ended.
TEST_F(inspect_restarting, the_signal_ends_no_program_without_a_runtime) {
    ::setenv("FULT_DUMP_SIGNAL", "USR2", 1); // of the program that is started for the death test
    EXPECT_EXIT(
        {
            ::raise(SIGUSR2);
            ::_exit(7);
        },
        ::testing::ExitedWithCode(7), "fult: no runtime is running");
    ::unsetenv("FULT_DUMP_SIGNAL");
    EXPECT_EXIT(
        {
            fult::options o = workers(2);
            o.dump_signal = SIGUSR1;
            { const runtime running(o); }
            ::raise(SIGUSR1);
            ::_exit(7);
        },
        ::testing::ExitedWithCode(7), "fult: no runtime is running");
}

fult::options reporting_on(int signal) {
    fult::options o = workers(2);
    o.dump_signal = signal;
    return o;
}

// Without a report on a signal, or with one on another signal, the program's own action remains.
TEST_F(inspect_restarting, the_signal_of_one_runtime_is_not_that_of_the_next) {
    for (const int next : {0, SIGUSR2})
        EXPECT_EXIT(
            {
                { const runtime running(reporting_on(SIGUSR1)); }
                { const runtime running(reporting_on(SIGUSR1)); }
                const runtime running(reporting_on(next));
                ::raise(SIGUSR1);
                ::_exit(7);
            },
            ::testing::KilledBySignal(SIGUSR1), "");
    EXPECT_EXIT(
        {
            { const runtime running(reporting_on(SIGUSR1)); }
            std::signal(SIGUSR1, [](int) { ::_exit(42); }); // the program's, from here on
            const runtime running(reporting_on(0));
            ::raise(SIGUSR1);
            ::_exit(7);
        },
        ::testing::ExitedWithCode(42), "");
}

} // namespace
