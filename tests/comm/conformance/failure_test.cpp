// Failures: a lost rank, a rank that never receives, an early end of a context.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <tuple>

#include "tests/comm/conformance/departure.hpp"
#include "tests/comm/conformance/ranks.hpp"
#include "tests/support/ends.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

// Runs the call, and returns whether it ended with that error.
template <class F> bool ends_with(errc code, F call) {
    try {
        call();
    } catch (const error &e) {
        return e.code() == code;
    }
    return false;
}

struct failure : ::testing::Test {
    failure() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

struct losing : ::testing::TestWithParam<std::tuple<bool, bool>> {};

// Rank 2 of 4 is lost while tasks of all others wait for it in every kind of call.
TEST_P(losing, ends_what_waits_for_that_rank) {
    const bool one_sided = std::get<0>(GetParam());
    const bool notified = std::get<1>(GetParam()); // as by the watch on processes; else a send finds out
    constexpr int lost = 2;
    world_settings settings;
    settings.ranks = 4;
    settings.network.one_sided = one_sided;
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<int> waiting{0}, over{0};
    std::atomic<int> failed{0};
    std::atomic<bool> through{false};
    run_ranks(settings, [&](party &p, world &all) {
        endpoint open = p.make_endpoint({.wildcards = true});
        std::vector<std::byte> memory(100'000);
        region own(p.world, memory);
        std::vector<remote_region> regions(4);
        allgather(p.world, own.remote(), regions);
        p.barrier();
        if (p.rank == lost) {
            through = true; // else the barrier itself might be cut off
            while (over != 3)
                this_task::yield();
            return;
        }
        std::vector<std::byte> large(100'000), in(100'000);
        std::vector<handle<void>> tasks;
        const auto expect_failure = [&](auto call) {
            tasks.push_back(spawn([&, call] {
                ++waiting;
                failed += ends_with(errc::peer_failed, call) ? 1 : 0;
                EXPECT_TRUE(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->is_lost(lost));
            }));
        };
        expect_failure([&] { p.world.recv(in, lost, 1); });
        expect_failure([&] { open.recv(in, lost, 1); });
        expect_failure([&] { open.recv(in, lost, any_tag); });
        expect_failure([&] { p.world.irecv(in, lost, 2).wait(); });
        expect_failure([&] { p.world.send(large, lost, 3); });
        expect_failure([&] {
            std::vector<request> two;
            two.push_back(p.world.isend(large, lost, 4));
            two.push_back(p.world.irecv(in, lost, 4));
            comm::wait_all(two); // fult::wait_all is of tasks
        });
        expect_failure(
            [&] { p.world.sendrecv(large.data(), large.size(), lost, 5, in.data(), in.size(), lost, 5); });
        expect_failure([&] { p.world.probe(lost, 6); });
        const auto until_it_fails = [&](auto call) {
            expect_failure([call] {
                for (;;)
                    call();
            });
        };
        std::vector<std::byte> got(100'000), got_short(100);
        until_it_fails([&] { put(p.world, large, regions[lost]); });
        until_it_fails([&] { get(p.world, got, regions[lost]); });
        until_it_fails([&] { iget(p.world, got_short, regions[lost]).wait(); });
        until_it_fails([&] { iput_signal(p.world, got_short, regions[lost], 0, 9).wait(); });
        while (waiting != 3 * 12 || !through)
            this_task::yield();
        cut_off(*all.hub, lost);
        if (notified)
            all.jobs[static_cast<std::size_t>(p.rank)]->first_device->fail_peer(lost);
        while (!all.jobs[static_cast<std::size_t>(p.rank)]->first_device->has_failed(lost)) {
            try {
                p.world.send(1, lost, 7);
            } catch (const error &e) {
                EXPECT_EQ(e.code(), errc::peer_failed);
                EXPECT_TRUE(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->is_lost(lost));
            }
            this_task::yield();
        }
        join_all(tasks);
        // And whatever is begun later.
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.recv<int>(lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { open.recv<int>(lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.send(1, lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.send(large, lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.probe(lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.isend(large, lost, 1).wait(); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.irecv(in, lost, 1).wait(); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { (void)p.world.enqueue(&lost, 1, lost, 1); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { put(p.world, large, regions[lost]); }));
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { iget(p.world, got, regions[lost]).wait(); }));
        // The others continue.
        const int to = p.rank == 0 ? 1 : p.rank == 1 ? 3 : 0, from = p.rank == 0 ? 3 : p.rank == 1 ? 0 : 1;
        for (int i = 0; i < 20; ++i) {
            request sent = p.world.isend(large, to, 8);
            p.world.recv(in, from, 8);
            sent.wait();
        }
        put(p.world, large, regions[static_cast<std::size_t>(to)]);
        ++over;
        while (over != 3) // regions stay until they are not used
            this_task::yield();
    });
    EXPECT_EQ(failed, 3 * 12);
}
INSTANTIATE_TEST_SUITE_P(kinds, losing, ::testing::Combine(::testing::Bool(), ::testing::Bool()));

// A rank leaves regularly while the others still use it.
TEST_F(failure, a_rank_that_leaves) {
    const runtime running(as_many_workers_as_asked_for());
    for (const int ranks : {2, 4})
        for (const bool one_sided : {true, false}) {
            world_settings settings;
            settings.ranks = ranks;
            settings.network.one_sided = one_sided;
            run_ranks(settings, [](party &p, world &) { the_last_rank_leaves(p); });
        }
}

// Signs of life that are not answered are counted, until a packet of that rank arrives or bytes of a transfer
// with it have moved.
TEST_F(failure, silence_is_counted) {
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<bool> over{false};
    run_ranks({}, [&](party &p, world &all) {
        p.barrier();
        if (p.rank == 1) { // it is not idle, and so sends only this
            p.world.send(1, 0, 1);
            p.world.recv<int>(0, 2);
            std::vector<char> bytes(1 << 20);
            comm::request sent = p.world.isend(bytes, 0, 4);
            p.world.send(1, 0, 3);
            while (!over)
                this_task::yield();
            sent.wait();
            return;
        }
        comm::detail::device &own = *all.jobs[0]->first_device;
        p.world.recv<int>(1, 1);
        for (unsigned silent = 1; silent <= 10; ++silent)
            EXPECT_EQ(own.send_heartbeat(1), silent);
        p.world.send(1, 1, 2);
        p.world.recv<int>(1, 3);
        EXPECT_EQ(own.send_heartbeat(1), 1U);
        std::vector<char> bytes(1 << 20);
        p.world.recv(bytes, 1, 4); // read from its memory
        EXPECT_EQ(own.send_heartbeat(1), 0U);
        EXPECT_EQ(own.send_heartbeat(1), 1U);
        over = true;
    });
}

// A launcher according to which the other one of two ranks is late whenever this one has begun.
class misses_the_other final : public comm::detail::bootstrap {
  public:
    misses_the_other() : bootstrap(0, 2) {}
    const char *name() const noexcept override { return "test"; }
    std::vector<std::string> exchange(std::string_view) override { return {}; }
    void barrier() override { throw comm::detail::late_rank("fult: rank 1 did not come"); }
    void abort(int, std::string_view) noexcept override { std::abort(); }
};

// This one ends without it, and reports it once.
TEST_F(failure, a_rank_that_does_not_come_to_the_end) {
    const runtime running(as_many_workers_as_asked_for());
    world_settings settings;
    const auto hub = comm::detail::make_loopback_hub(2, settings.network);
    std::vector<comm::detail::device_links> links(1);
    links[0].transports.push_back(comm::detail::open_loopback(hub, 0));
    links[0].routes = {-1, 0};
    auto own = std::make_unique<comm::detail::job>(settings.options, std::make_unique<misses_the_other>(),
                                                   std::move(links));
    ::testing::internal::CaptureStderr();
    own.reset();
    const std::string said = ::testing::internal::GetCapturedStderr();
    const std::string wanted = "fult-comm: rank 0 ends without the others: fult: rank 1 did not come; ";
    EXPECT_EQ(said.substr(0, wanted.size()), wanted);
    EXPECT_NE(said.find("FULT_DUMP_SIGNAL"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n') + 1, said.size()) << "one line";
}

// Two of three leave one after the other: a receive from any rank ends with the second.
TEST_F(failure, any_source_ends_when_the_last_of_the_others_has_left) {
    world_settings settings;
    settings.ranks = 3;
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(settings, [](party &p, world &) {
        endpoint open = p.make_endpoint({.wildcards = true});
        if (p.rank == 1)
            return;
        if (p.rank == 2) {
            p.world.recv<int>(0, 1);
            open.send(5, 0, 2);
            return;
        }
        int one = 0;
        EXPECT_TRUE(ends_with(errc::peer_left, [&] { p.world.recv(one, 1, 1); }));
        request any = open.irecv(std::span(&one, 1), any_source, 3);
        for (int i = 0; i < 100; ++i)
            this_task::yield();
        EXPECT_FALSE(any.test()); // rank 2 may still send
        p.world.send(1, 2, 1);
        EXPECT_TRUE(ends_with(errc::peer_left, [&] { any.wait(); }));
        EXPECT_EQ(open.recv<int>(any_source, any_tag), 5); // it came before
        EXPECT_TRUE(ends_with(errc::peer_left, [&] { open.recv<int>(any_source, any_tag); }));
    });
}

// Messages that arrived from a rank before its loss are still received. One that was only silent may go on:
// its receives have failed by then, and no later one gets its messages.
TEST_F(failure, messages_that_came_before_remain_and_later_ones_are_dropped) {
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<bool> through{false}, lost{false}, sent{false}, over{false};
    const auto await = [](const std::atomic<bool> &what) {
        while (!what)
            this_task::yield();
    };
    run_ranks({}, [&](party &p, world &all) {
        comm::detail::device &own = *all.jobs[static_cast<std::size_t>(p.rank)]->first_device;
        if (p.rank == 1) {
            p.world.send(5, 0, 1);
            p.barrier();
            through = true; // else the barrier itself might be cut off
            await(lost);
            p.world.send(6, 0, 1);
            own.progress(); // it has left
            sent = true;
            await(over);
            own.fail_peer(0);
            return;
        }
        p.barrier();
        await(through);
        own.fail_peer(1);
        EXPECT_EQ(p.world.recv<int>(1, 1), 5);
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.recv<int>(1, 1); }));
        lost = true;
        await(sent);
        while (own.progress()) {
        }
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { p.world.recv<int>(1, 1); }));
        cut_off(*all.hub, 1);
        over = true;
    });
}

// If all other ranks have ended, a receive from any source fails. A receive from this rank keeps waiting, and
// messages that have arrived are received first.
TEST_F(failure, any_source_ends_with_the_last_of_the_others) {
    world_settings settings;
    settings.ranks = 3;
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<bool> over{false};
    std::atomic<int> through{0};
    run_ranks(settings, [&](party &p, world &all) {
        endpoint open = p.make_endpoint({.wildcards = true});
        if (p.rank != 0) {
            if (p.rank == 1)
                open.send(5, 0, 9);
            p.barrier();
            ++through; // else the barrier itself might be cut off
            while (!over)
                this_task::yield();
            return;
        }
        p.barrier();
        while (through != 2)
            this_task::yield();
        std::atomic<int> failed{0}, waiting{0};
        std::vector<handle<void>> tasks;
        const auto fails = [&](auto call) {
            tasks.push_back(spawn([&, call] {
                ++waiting;
                failed += ends_with(errc::peer_failed, call) ? 1 : 0;
            }));
        };
        int one = 0, two = 0, three = 0;
        fails([&] { open.recv(one, any_source, 1); });
        fails([&] { open.irecv(std::span(&two, 1), any_source, 2).wait(); });
        fails([&] { open.probe(any_source, 3); });
        request own = open.irecv(std::span(&three, 1), 0, any_tag);
        while (waiting != 3)
            this_task::yield();
        const auto lose = [&](int rank) {
            cut_off(*all.hub, rank);
            all.jobs[0]->first_device->fail_peer(rank);
        };
        lose(1);
        for (int i = 0; i < 100; ++i)
            this_task::yield();
        EXPECT_EQ(failed, 0); // rank 2 may still send
        lose(2);
        join_all(tasks);
        EXPECT_EQ(failed, 3);
        EXPECT_EQ(open.recv<int>(any_source, 9), 5); // it came before
        EXPECT_TRUE(ends_with(errc::peer_failed, [&] { open.recv<int>(any_source, any_tag); }));
        open.send(6, 0, 4);
        EXPECT_EQ(own.wait().source, 0);
        EXPECT_EQ(three, 6);
        open.send(7, 0, 4);
        EXPECT_EQ(open.recv<int>(any_source, 4), 7); // as a message that is here
        try {
            open.recv<int>(any_source, 4);
            ADD_FAILURE() << "no error";
        } catch (const error &e) {
            EXPECT_NE(std::string(e.what()).find("every other rank"), std::string::npos) << e.what();
        }
        over = true;
    });
}

// Senders to a rank that receives nothing for a long time wait eventually; it keeps at most this many bytes.
TEST_F(failure, a_receiver_that_never_receives_slows_its_senders) {
    world_settings settings;
    settings.ranks = 3;
    settings.options.unexpected = 3 << 16; // 64 KiB a rank
    settings.network.depth = 8;            // and as much under way
    const runtime running(as_many_workers_as_asked_for());
    constexpr int messages = 2000, size = 1000;
    std::atomic<int> sent[3]{};
    std::atomic<int> senders{0};
    run_ranks(settings, [&](party &p, world &) {
        if (p.rank != 0) {
            std::vector<handle<void>> tasks;
            tasks.push_back(spawn([&] {
                for (int i = 0; i < messages; ++i) {
                    std::vector<std::byte> out = bytes_of(static_cast<unsigned>(i), size);
                    p.world.send(out, 0, 1);
                    ++sent[p.rank];
                }
            }));
            ++senders;
            join_all(tasks);
            p.barrier();
            return;
        }
        // Waits until the senders have stopped. No event reports that: 200 polls without a change, some time
        // apart. On a busy machine they may send more afterwards; they have not sent all.
        while (senders != 2)
            this_task::yield();
        for (int quiet = 0, before = -1; quiet < 200;) {
            const int now = sent[1] + sent[2];
            quiet = now == before && now > 0 ? quiet + 1 : 0;
            before = now;
            std::this_thread::sleep_for(std::chrono::microseconds(200)); // time: between polls
            this_task::yield();
        }
        // A queue of the network and a packet more than the bound may have been under way.
        EXPECT_LT(sent[1], messages);
        EXPECT_LT(sent[2], messages);
        std::vector<std::byte> in(size);
        for (int i = 0; i < messages; ++i)
            for (int from = 1; from <= 2; ++from) {
                p.world.recv(in, from, 1);
                EXPECT_TRUE(are_bytes_of(static_cast<unsigned>(i), in));
            }
        p.barrier();
    });
}

// Memory that an endpoint kept for messages that were not received does not slow its senders afterwards.
TEST_F(failure, an_endpoint_that_ends_gives_its_messages_up) {
    world_settings settings;
    settings.options.unexpected = 1 << 17;
    const runtime running(as_many_workers_as_asked_for());
    const auto program = [](party &p, world &) {
        for (int round = 0; round < 5; ++round) {
            endpoint e = p.make_endpoint({.wildcards = round % 2 == 1});
            const std::vector<std::byte> out(1000), large(100'000);
            if (p.rank == 0) {
                std::vector<request> all;
                for (int i = 0; i < 100; ++i)
                    all.push_back(e.isend(out, 1, 1));
                p.world.send(1, 1, 2);
                p.world.recv<int>(1, 2); // the endpoint is gone there
                comm::wait_all(all);     // what waited for it as well
                e.send(large, 1, 3);
            } else {
                p.world.recv<int>(0, 2);
                e = endpoint();
                p.world.send(1, 0, 2);
            }
            p.barrier();
        }
    };
    fult::testing::expect_ends([&] { run_ranks(settings, program); });
}

// A handler's task may run when its endpoint has ended.
TEST_F(failure, tasks_of_handlers_outlive_their_endpoint) {
    const runtime running(as_many_workers_as_asked_for());
    for (int round = 0; round < (fult::testing::sanitized ? 3 : 20); ++round) {
        const auto count = std::make_shared<std::atomic<int>>(0);
        run_ranks({}, [&](party &p, world &) {
            endpoint e =
                p.make_endpoint({.delivery = delivery::task,
                                 .handler = [count](const status &, std::span<const std::byte> bytes) {
                                     this_task::yield();
                                     *count += static_cast<int>(bytes.size());
                                 }});
            for (int i = 0; i < 20; ++i)
                e.send(i, p.rank, 1); // those to itself are delivered at once
            e = endpoint();
        });
        constexpr int sent = 2 * 20 * static_cast<int>(sizeof(int));
        while (*count < sent)
            this_task::yield();
        EXPECT_EQ(*count, sent);
    }
}

// A message that is being moved to an endpoint which ends meanwhile.
TEST_F(failure, endpoints_end_while_messages_come) {
    const runtime running(as_many_workers_as_asked_for());
    for (const bool one_sided : {true, false}) {
        world_settings settings;
        settings.network.one_sided = one_sided;
        settings.network.depth = 2;
        const auto program = [](party &p, world &) {
            for (int round = 0; round < 10; ++round) {
                endpoint e = p.make_endpoint({.delivery = delivery::queued});
                const std::vector<std::byte> large(200'000);
                if (p.rank == 0)
                    e.send(large, 1, 1);
                else
                    for (int i = 0; i < round; ++i)
                        this_task::yield();
                e = endpoint();
                p.barrier();
            }
        };
        fult::testing::expect_ends([&] { run_ranks(settings, program); });
    }
}

#define FULT_EXPECT_END(ranks_do, message)                         \
    EXPECT_DEATH(                                                  \
        {                                                          \
            const runtime running(as_many_workers_as_asked_for()); \
            run_ranks({}, ranks_do);                               \
        },                                                         \
        message)

TEST_F(failure, ending_with_a_pending_receive) {
    const auto program = [](party &p, world &) {
        static int never;
        if (p.rank == 0) {
            static std::atomic<bool> is_posted;
            is_posted = false;
            spawn([&world = p.world] {
                request receive = world.irecv(&never, sizeof never, 0, 1);
                is_posted = true;
                receive.wait();
            }).detach();
            while (!is_posted)
                this_task::yield();
        }
    };
    FULT_EXPECT_END(program, "fult: comm::context: ended with operations pending: 1 receive.* on endpoint");
}

TEST_F(failure, ending_with_a_region) {
    const auto program = [](party &p, world &) {
        static int memory;
        static region left;
        if (p.rank == 0)
            left = region(p.world, &memory, sizeof memory);
    };
    FULT_EXPECT_END(program, "ended with operations pending: 1 region.* not destroyed");
}

TEST_F(failure, ending_with_a_send_that_was_not_received) {
    const auto program = [](party &p, world &) {
        const std::vector<std::byte> large(100'000);
        if (p.rank == 0)
            (void)p.world.enqueue(large.data(), large.size(), 1, 17);
    };
    // Rank 1 may have left already.
    FULT_EXPECT_END(program, "ended with operations pending: 1 send.* of 100000 bytes to rank 1, tag 17|"
                             "waits for rank 1 to take its message of 100000 bytes, tag 17");
}

TEST_F(failure, ending_with_a_send_to_itself) {
    const auto program = [](party &p, world &) {
        const std::vector<std::byte> large(100'000);
        if (p.rank == 1)
            (void)p.world.enqueue(large.data(), large.size(), 1, 18);
    };
    FULT_EXPECT_END(program, "ended with operations pending: 1 send.* of 100000 bytes to rank 1, tag 18");
}

TEST_F(failure, requests_and_endpoints_that_end_too_early) {
    const auto drops_request = [](party &p, world &) {
        static int never;
        const request r = p.world.irecv(std::span(&never, 1), p.rank, 1);
    };
    FULT_EXPECT_END(drops_request, "fult: request: destroyed before it was complete");
    const auto drops_endpoint = [](party &p, world &) {
        static int never;
        endpoint e = p.make_endpoint({});
        static request kept[2]; // by rank
        kept[p.rank] = e.irecv(std::span(&never, 1), p.rank, 1);
        e = endpoint();
    };
    FULT_EXPECT_END(drops_endpoint, "fult: comm::endpoint: destroyed while receives wait on it");
}

TEST_F(failure, an_endpoint_that_outlives_its_context) {
    const auto program = [](party &p, world &) {
        static endpoint kept;
        if (p.rank == 0)
            kept = p.make_endpoint({});
    };
    FULT_EXPECT_END(program, "fult: comm::context: ended before 1 endpoint.* made from it");
}

TEST_F(failure, handlers_that_throw) {
    static delivery how;
    static bool standard;
    const auto program = [](party &p, world &) {
        endpoint_options options{.delivery = how};
        options.handler = [](const status &, std::span<const std::byte>) {
            if (standard)
                throw std::runtime_error("no such order");
            throw 7;
        };
        endpoint e = p.make_endpoint(options);
        if (p.rank == 0)
            e.send(1, 1, 5);
        p.barrier();
        p.world.recv<int>(p.next(), 1);
    };
    for (const delivery each : {delivery::handler, delivery::task}) {
        how = each;
        standard = true;
        FULT_EXPECT_END(program,
                        "fult: comm::endpoint: the handler of endpoint 1 threw on a message from rank 0, "
                        "tag 5: no such order; catch it in the handler");
        standard = false;
        FULT_EXPECT_END(program, "tag 5: an exception that is no std::exception; catch it in the handler");
    }
}

// Messages of one packet that are not received are no error: their sends are complete.
TEST_F(failure, short_messages_may_be_left) {
    const auto program = [](party &p, world &) {
        p.world.send(1, p.next(), 1);
        p.world.send(1, p.rank, 1);
    };
    EXPECT_EXIT(
        {
            {
                const runtime running(as_many_workers_as_asked_for());
                run_ranks({}, program);
            }
            std::_Exit(0);
        },
        ::testing::ExitedWithCode(0), "^$"); // without a message
}

} // namespace
