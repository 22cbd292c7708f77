// Messages that are not received, or into a queue that is not read: their senders wait, and the memory for
// them is bounded.
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

constexpr std::size_t share = 1 << 16; // bytes of a rank's messages that another one keeps

world_settings small_share(int ranks, bool one_sided = true) {
    world_settings settings;
    settings.ranks = ranks;
    settings.options.unexpected = share * static_cast<std::size_t>(ranks);
    settings.network.depth = 8; // and as much under way
    settings.network.one_sided = one_sided;
    return settings;
}

// Waits until nothing changes. No event reports that: 100 polls without a change, some time apart. On a busy
// machine it may change afterwards.
template <class F> void until_still(F progress) {
    for (int quiet = 0, before = -1; quiet < 100;) {
        const int now = progress();
        quiet = now == before && now > 0 ? quiet + 1 : 0;
        before = now;
        std::this_thread::sleep_for(std::chrono::microseconds(200)); // time: between polls
        this_task::yield();
    }
}

std::size_t short_and_long(int i) { return i % 10 == 7 ? 40'000 : 1000; }
std::size_t all_long(int) { return 30'000; }
std::size_t all_short(int) { return 700; }
std::size_t longer_than_the_share(int i) { return i % 3 == 0 ? 3 * share : 1000; }

struct queue : ::testing::TestWithParam<std::tuple<std::size_t (*)(int), bool>> {};

TEST_P(queue, that_is_not_emptied_slows_its_senders) {
    const auto [size_of, one_sided] = GetParam();
    const runtime running(as_many_workers_as_asked_for());
    constexpr int messages = 300;
    std::atomic<int> sent[3]{};
    run_ranks(small_share(3, one_sided), [&, size_of = size_of](party &p, world &all) {
        endpoint e = p.make_endpoint({.delivery = delivery::queued});
        if (p.rank != 0) {
            for (int i = 0; i < messages; ++i) {
                e.send(bytes_of(static_cast<unsigned>(i), size_of(i)), 0, 1);
                ++sent[p.rank];
            }
            p.barrier();
            return;
        }
        until_still([&] { return sent[1] + sent[2]; });
        comm::detail::device &own = *all.jobs[0]->first_device;
        for (int from = 1; from <= 2; ++from) {
            EXPECT_LT(sent[from], messages);
            // A message that is longer than the share is accepted alone, and eight packets may have been
            // under way.
            EXPECT_LE(own.flow().unexpected(from), static_cast<std::ptrdiff_t>(5 * share));
        }
        int next[3] = {};
        while (next[1] + next[2] < 2 * messages) {
            const auto m = e.dequeue();
            if (!m) {
                this_task::yield();
                continue;
            }
            int &which = next[m->envelope.source];
            ASSERT_EQ(m->envelope.size, size_of(which));
            EXPECT_TRUE(are_bytes_of(static_cast<unsigned>(which), m->view()));
            ++which;
        }
        EXPECT_FALSE(e.dequeue());
        p.barrier(); // before it, a message of it may have arrived
        EXPECT_EQ(own.flow().unexpected(1), 0);
        EXPECT_EQ(own.flow().unexpected(2), 0);
    });
}
INSTANTIATE_TEST_SUITE_P(of, queue,
                         ::testing::Combine(::testing::Values(&all_short, &all_long, &short_and_long,
                                                              &longer_than_the_share),
                                            ::testing::Bool()));

// A message in a queue, or one that waits for space in it, is dropped with its endpoint, and slows no sender
// afterwards.
TEST(queues, that_end_full_give_their_messages_up) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(small_share(2), [&](party &p, world &all) {
        for (int round = 0; round < 4; ++round) {
            endpoint e = p.make_endpoint({.delivery = delivery::queued});
            if (p.rank == 0) {
                for (int i = 0; i < 60; ++i)
                    e.send(bytes_of(static_cast<unsigned>(i), short_and_long(i)), 1, 1);
                p.world.send(1, 1, 2);
            } else {
                until_still(
                    [&] { return static_cast<int>(all.jobs[1]->first_device->flow().unexpected(0)); });
                e = endpoint();
                p.world.recv<int>(0, 2);
            }
            p.barrier();
        }
        EXPECT_EQ(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->flow().unexpected(1 - p.rank), 0);
    });
}

// Long messages are at their senders until they are wanted: here are only the records of their RTS.
TEST(unexpected_messages, that_are_long_count_as_what_is_here) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(small_share(2), [](party &p, world &all) {
        constexpr unsigned messages = 10;
        constexpr std::size_t size = 40'000;
        constexpr std::ptrdiff_t least = messages * sizeof(comm::detail::unexpected_message);
        if (p.rank == 0) {
            std::vector<request> sends;
            const std::vector<std::byte> out = bytes_of(1, size);
            for (unsigned tag = 0; tag < messages; ++tag)
                sends.push_back(p.world.isend(out.data(), size, 1, tag));
            for (request &each : sends)
                each.wait();
        } else {
            comm::detail::device &own = *all.jobs[1]->first_device;
            for (unsigned tag = 0; tag < messages; ++tag)
                EXPECT_EQ(p.world.probe(0, tag).size, size);
            while (own.flow().unexpected(0) < least) // the last one is found before it is counted
                this_task::yield();
            EXPECT_LT(own.flow().unexpected(0), static_cast<std::ptrdiff_t>(size));
            std::vector<std::byte> in(size);
            for (unsigned tag = 0; tag < messages; ++tag)
                p.world.recv(in.data(), size, 0, tag);
        }
        p.barrier();
        EXPECT_EQ(all.jobs[static_cast<std::size_t>(p.rank)]->first_device->flow().unexpected(1 - p.rank), 0);
    });
}

// A message without bytes has a record. The sender is asked to go slower long before it has sent all.
struct flood_of_empty_messages : ::testing::TestWithParam<delivery> {};

TEST_P(flood_of_empty_messages, has_a_bound) {
    const runtime running(as_many_workers_as_asked_for());
    constexpr int messages = 20'000;
    std::atomic<int> sent{0};
    run_ranks(small_share(2), [&, how = GetParam()](party &p, world &all) {
        endpoint e = p.make_endpoint({.delivery = how});
        p.barrier(); // a message for an endpoint that is not there yet counts more
        if (p.rank == 0) {
            for (int i = 0; i < messages; ++i) {
                e.send(nullptr, 0, 1, 1);
                ++sent;
            }
            p.barrier();
            return;
        }
        comm::detail::flow_control &flow = all.jobs[1]->first_device->flow();
        while (!flow.is_throttling() && sent < messages)
            this_task::yield();
        EXPECT_LT(sent, messages);
        EXPECT_GT(flow.unexpected(0), static_cast<std::ptrdiff_t>(share));
        for (int i = 0; i < messages;)
            if (how == delivery::matched) {
                e.recv(nullptr, 0, 0, 1);
                ++i;
            } else if (e.dequeue()) {
                ++i;
            } else {
                this_task::yield();
            }
        p.barrier();
        EXPECT_EQ(flow.unexpected(0), 0);
    });
}
INSTANTIATE_TEST_SUITE_P(of, flood_of_empty_messages, ::testing::Values(delivery::matched, delivery::queued));

// enqueue copies, and refuses when it has copied enough.
TEST(queues, refuse_what_finds_no_room_at_the_sender) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(small_share(2), [&](party &p, world &all) {
        endpoint e = p.make_endpoint({.delivery = delivery::queued});
        const auto send_until_refused = [&](std::size_t size) {
            const std::vector<std::byte> out = bytes_of(size, size);
            int count = 0, refused = 0;
            while (refused < 20) {
                if (e.enqueue(out.data(), size, 1, 1)) {
                    ++count;
                    refused = 0;
                } else {
                    ++refused;
                    // 20 refusals in 10 ms are mostly final.
                    // time: either order is right
                    std::this_thread::sleep_for(std::chrono::microseconds(500));
                    this_task::yield();
                }
                EXPECT_LE(all.jobs[0]->first_device->flow().copied_bytes(), 2 * share);
                if (count == 2000)
                    break;
            }
            EXPECT_LT(count, 2000);
            p.world.send(count, 1, 2);
        };
        for (const std::size_t size : {std::size_t{20'000}, std::size_t{500}}) {
            if (p.rank == 0) {
                send_until_refused(size);
            } else {
                const int count = p.world.recv<int>(0, 2);
                for (int i = 0; i < count;)
                    if (const auto m = e.dequeue()) {
                        EXPECT_EQ(m->envelope.size, size);
                        EXPECT_TRUE(are_bytes_of(size, m->view()));
                        ++i;
                    } else {
                        this_task::yield();
                    }
            }
            p.barrier();
        }
    });
}

// A packet stays reserved for the rank for which it was filled last, and there may be more ranks than
// packets. On rank 0 of three, a send to rank 1 waits for a packet. At its end another send begins, to rank
// 2, which waits as well.
TEST(sends, that_begin_as_others_find_room) {
    struct next final : completion {
        endpoint *world = nullptr;
        completion *at_end = nullptr;
        void complete(const completion_event &) noexcept override {
            world->isend(bytes.data(), bytes.size(), 2, 1, *at_end);
        }
        const std::vector<std::byte> bytes = bytes_of(1, 300);
    };
    fult::options one = as_many_workers_as_asked_for();
    one.workers = 1; // nothing else makes progress while this task does not suspend
    const runtime running(one);
    world_settings settings;
    settings.ranks = 3;
    settings.network = {.inject = 64, .message = 512, .depth = 1};
    const auto hub = comm::detail::make_loopback_hub(3, settings.network);
    const auto at = std::make_shared<meeting>(3);
    std::vector<std::unique_ptr<comm::detail::job>> jobs;
    std::vector<endpoint> queues;
    for (int i = 0; i < 3; ++i) {
        jobs.push_back(open_rank(settings, {hub}, at, i));
        queues.push_back(jobs.back()->make_endpoint({.delivery = delivery::queued}));
    }
    const auto receive = [&](std::size_t rank) {
        while (jobs[rank]->progress() || queues[rank].dequeue())
            ;
    };
    synchronizer last(jobs[0]->world, 1);
    next first;
    first.world = &queues[0];
    first.at_end = &last;
    for (const int to : {1, 2})
        while (queues[0].enqueue(first.bytes.data(), first.bytes.size(), to, 1))
            ;
    queues[0].isend(first.bytes.data(), first.bytes.size(), 1, 1, first);
    receive(1);
    jobs[0]->progress(); // the first one has left, and the second one waits
    for (int rounds = 0; !last.test(); ++rounds) {
        ASSERT_LT(rounds, 1000);
        receive(1);
        receive(2);
    }
    receive(2);
    queues.clear();
    std::vector<handle<void>> ends;
    for (auto &each : jobs)
        ends.push_back(spawn([&] { each.reset(); }));
    join_all(ends);
}

TEST(packets, are_passed_on_between_ranks) {
    world_settings settings;
    settings.ranks = 8;
    settings.options.packets = 8;
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(settings, [&](party &p, world &) {
        for (int round = 0; round < 20; ++round) {
            std::vector<request> sent;
            for (int to = 0; to < p.size; ++to)
                sent.push_back(p.world.isend(std::span(&round, 1), to, 1));
            for (int from = 0; from < p.size; ++from)
                EXPECT_EQ(p.world.recv<int>(from, 1), round);
            comm::wait_all(sent);
        }
        p.barrier();
    });
}

} // namespace
