// Polling: no message waits for a sleep to end by itself.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

#include <fult/sync/event.hpp>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

fult::options two_workers() {
    fult::options o = as_many_workers_as_asked_for();
    o.workers = 2;
    return o;
}

world_settings with_server(progress_policy how) {
    world_settings settings;
    settings.options.progress = how;
    return settings;
}

struct server : ::testing::TestWithParam<progress_policy> {};

// A task sends while its worker has other tasks to run, so the message would be gathered, and the server may
// be asleep: the message must be sent at once.
TEST_P(server, nothing_waits_for_the_end_of_a_sleep) {
    const runtime running(two_workers());
    run_ranks(with_server(GetParam()), [&](party &p, world &all) {
        std::atomic<bool> over{false};
        handle<void> other = spawn([&] { // always something else to run
            while (!over)
                this_task::yield();
        });
        for (int i = 0; i < 200; ++i) {
            if (i % 20 == 0)                                               // the server mostly goes to sleep
                std::this_thread::sleep_for(std::chrono::milliseconds(1)); // time: either order is right
            request sent = p.world.isend(std::span(&i, 1), p.next(), 1);
            p.world.recv<int>(p.previous(), 1);
            sent.wait();
        }
        over = true;
        other.join();
        p.barrier();
        EXPECT_EQ(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->sleep().missed_wakeups(), 0U);
    });
}

// The same with a network that has room for only two messages: a sender that finds no room wakes the sleeper,
// which tries again.
TEST_P(server, nor_does_what_finds_no_room) {
    world_settings settings = with_server(GetParam());
    settings.network.depth = 2;
    settings.options.packets = 8;
    const runtime running(two_workers());
    run_ranks(settings, [&](party &p, world &all) {
        std::vector<handle<void>> tasks;
        for (std::uint32_t t = 0; t < 20; ++t) {
            tasks.push_back(spawn([&, t] { p.world.send(bytes_of(t, 3000), p.next(), t); }));
            tasks.push_back(spawn([&, t] {
                std::vector<std::byte> in(3000);
                p.world.recv(in, p.previous(), t);
                EXPECT_TRUE(are_bytes_of(t, in));
            }));
        }
        join_all(tasks);
        p.barrier();
        EXPECT_EQ(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->sleep().missed_wakeups(), 0U);
    });
}

INSTANTIATE_TEST_SUITE_P(by, server, ::testing::Values(progress_policy::workers, progress_policy::dedicated),
                         [](const auto &p) {
                             return std::string(p.param == progress_policy::workers ? "workers"
                                                                                    : "dedicated");
                         });

// Foreign threads make progress themselves: while they exchange messages, each worker is blocked by a task
// that waits for one of them without the runtime's knowledge. Some of their waits last until all sleep.
TEST(foreign_threads, exchange_messages_while_every_worker_is_blocked) {
    const runtime running(two_workers());
    constexpr int rounds = 100;
    run_ranks({}, [&](party &p, world &) {
        std::atomic<int> right{0};
        std::vector<std::thread> some;
        for (std::uint32_t tag = 0; tag < 3; ++tag)
            some.emplace_back([&, tag] {
                for (int i = 0; i < rounds; ++i) {
                    if (i % 10 == 0 && p.rank == 0) // the others mostly go to sleep
                        // time: either order is right
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    if (p.rank == 0)
                        p.world.send(i, p.next(), tag);
                    right += p.world.recv<int>(p.previous(), tag) == i;
                    if (p.rank == 1)
                        p.world.send(i, p.next(), tag);
                }
            });
        for (std::thread &each : some)
            each.join();
        EXPECT_EQ(right, 3 * rounds);
        p.barrier();
    });
}

// A wait that is not a call of fult-comm: the handler that ends it runs on the waiting thread.
TEST(foreign_threads, wait_for_what_a_handler_does_while_every_worker_is_blocked) {
    const runtime running(two_workers());
    run_ranks({}, [&](party &p, world &) {
        fult::event came;
        std::atomic<int> calls{0};
        endpoint handled = p.make_endpoint(
            {.delivery = delivery::handler, .handler = [&](const status &, std::span<const std::byte>) {
                 ++calls;
                 came.set();
             }});
        std::thread([&] {
            handled.send(nullptr, 0, p.next(), 0);
            came.wait();
        }).join();
        EXPECT_EQ(calls, 1);
        p.barrier();
    });
}

// The processors of the thread of that name, according to the system; empty if there is no such thread.
std::string processors_of(const std::string &thread) {
    for (const auto &each : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(each.path() / "status");
        std::string name, allowed;
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("Name:\t"))
                name = line.substr(6);
            if (line.starts_with("Cpus_allowed_list:\t"))
                allowed = line.substr(19);
        }
        if (name == thread)
            return allowed;
    }
    return {};
}

// It is started by a worker, which is bound to one processor.
TEST(dedicated_server, does_not_share_the_processor_of_the_worker_that_started_it) {
    cpu_set_t mine;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    if (CPU_COUNT(&mine) < 2)
        GTEST_SKIP() << "there is one processor only";
    std::string all, of_server;
    {
        std::ifstream status("/proc/thread-self/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("Cpus_allowed_list:\t"))
                all = line.substr(19);
    }
    fult::options o = fult::read_options();
    o.workers = 1;
    o.bind = fult::bind_mode::on;
    const runtime running(o);
    world_settings settings = with_server(progress_policy::dedicated);
    run_ranks(settings, [&](party &p, world &) {
        p.barrier();
        while (p.rank == 0 && (of_server = processors_of("fult-server")).empty())
            this_task::yield();
        p.barrier();
    });
    EXPECT_EQ(of_server, all);
}

} // namespace
