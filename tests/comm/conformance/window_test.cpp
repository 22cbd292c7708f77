// Transports that buffer what arrives without limit: how much of it may be on its way is bounded by credits.
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

constexpr unsigned least_window = 4; // packets

world_settings with_a_window(unsigned packets) {
    world_settings settings;
    settings.options.gather = false; // each message has a packet
    settings.network.window = packets;
    return settings;
}

// The receiver begins late. Until then no more than a window is on its way; nothing is lost, and the order is
// kept.
TEST(window, bounds_what_is_on_its_way_to_a_rank_that_does_not_poll) {
    const runtime running(as_many_workers_as_asked_for());
    const world_settings settings = with_a_window(least_window);
    const auto hub = comm::detail::make_loopback_hub(2, settings.network);
    const auto at = std::make_shared<meeting>(2);
    const auto open = [&](int rank) { return open_rank(settings, {hub}, at, rank); };
    constexpr int messages = 100;
    auto sender = open(1);
    std::vector<int> numbers(messages);
    std::vector<request> sent;
    for (int i = 0; i < messages; ++i) {
        numbers[static_cast<std::size_t>(i)] = i;
        sent.push_back(
            sender->world.isend(std::span<const int>(&numbers[static_cast<std::size_t>(i)], 1), 0, 1));
        sender->progress();
    }
    EXPECT_EQ(comm::detail::packets_waiting(*hub, 0), least_window);
    auto late = open(0);
    for (int i = 0; i < messages; ++i)
        EXPECT_EQ(late->world.recv<int>(1, 1), i);
    comm::wait_all(sent);
    auto end = spawn([&] { sender.reset(); });
    late.reset();
    end.join();
}

// Credits are not held back by windows: ranks that fill each other's go on.
TEST(window, ranks_that_send_to_each_other_go_on) {
    const runtime running(as_many_workers_as_asked_for());
    for (const unsigned packets : {2U, least_window, 64U}) {
        world_settings settings = with_a_window(packets);
        settings.ranks = 3;
        settings.network.refuse_every = 7;
        run_ranks(settings, [](party &p, world &) {
            constexpr int messages = 300;
            std::vector<std::byte> large(100'000), in(100'000);
            const int number = p.rank;
            std::vector<request> sent;
            for (int i = 0; i < messages; ++i)
                sent.push_back(p.world.isend(std::span<const int>(&number, 1), p.next(), 1));
            request more = p.world.isend(large, p.next(), 2);
            p.world.recv(in, p.previous(), 2);
            for (int i = 0; i < messages; ++i)
                EXPECT_EQ(p.world.recv<int>(p.previous(), 1), p.previous());
            comm::wait_all(sent);
            more.wait();
            p.barrier();
        });
    }
}

} // namespace
