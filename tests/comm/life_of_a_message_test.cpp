// The walk of docs/life-of-a-message.md, step by step: what each leaves in the packet, the table and the
// tasks. Two ranks of one process, over shared memory. One worker, and devices that nothing polls by itself,
// so that every step is ours to take.
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fult/comm.hpp>
#include <fult/detail/service.hpp>

#include "comm/device/device.hpp"
#include "comm/device/endpoint_state.hpp"
#include "comm/packets/wire.hpp"
#include "comm/shared/shared.hpp"
#include "tests/support/support.hpp"
#include "tests/support/unique.hpp"

namespace {

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::status;
using fult::detail::others_ready;
namespace this_task = fult::this_task;

constexpr std::uint32_t tag = 7;
constexpr std::size_t long_size = 20'000; // more than a packet, and copied at once

std::unique_ptr<transport> open_transport(int rank, bool copies) {
    shared_settings how;
    how.name = "fult-life-" + fult::testing::unique_name() + "-" + std::to_string(rank);
    how.rank = rank;
    how.ranks = 2;
    how.copies = copies;
    return open_shared(how);
}

std::vector<std::unique_ptr<transport>> only(std::unique_ptr<transport> one) {
    std::vector<std::unique_ptr<transport>> all;
    all.push_back(std::move(one));
    return all;
}

// A rank without its job: nothing else polls the device.
struct lone_rank {
    transport &via;
    fult::comm::detail::device device;
    std::shared_ptr<endpoint_state> state, collective_context;
    endpoint world;

    lone_rank(int rank, std::unique_ptr<transport> connected)
        : via(*connected),
          device(device_settings{.rank = rank, .size = 2}, only(std::move(connected)),
                 rank == 0 ? std::vector{-1, 0} : std::vector{0, -1}),
          state(std::make_shared<endpoint_state>(device, std::uint16_t{0}, fult::comm::endpoint_options{})),
          collective_context(
              std::make_shared<endpoint_state>(device, std::uint16_t{1}, fult::comm::endpoint_options{})),
          world(endpoint_access::handle_of(state)) {
        device.attach(*state, *collective_context);
    }
};

struct life_of_a_message : ::testing::Test {
    fult::runtime running{fult::testing::workers(1)};
    std::unique_ptr<lone_rank> from, to;

    void connect(bool copies = true) {
        std::unique_ptr<transport> ways[] = {open_transport(0, copies), open_transport(1, copies)};
        const std::string addresses[] = {ways[0]->address(), ways[1]->address()};
        for (const auto &each : ways)
            each->connect(addresses);
        for (const auto &each : ways)
            each->unlink_names();
        from = std::make_unique<lone_rank>(0, std::move(ways[0]));
        to = std::make_unique<lone_rank>(1, std::move(ways[1]));
    }
    const peer &receiver_at_sender() const { return from->device.peers().of(1); }
    std::ptrdiff_t unexpected_bytes() const { return to->device.peers().of(0).unexpected_bytes.load(); }
};

TEST_F(life_of_a_message, when_a_task_waits_for_it) {
    connect();
    int in = 0;
    auto receiver = fult::spawn([&] { return to->world.recv(&in, sizeof in, 0, tag); });

    // recv: entered into the table; another task is ready, so this one suspends
    this_task::yield();
    EXPECT_EQ(to->state->waiting_receives(), 1u);
    EXPECT_FALSE(receiver.done());
    EXPECT_FALSE(others_ready());

    // send: a record in the packet for rank 1, which is kept open while the worker has other tasks
    auto other = fult::spawn([] {});
    int out = 42;
    from->world.send(&out, sizeof out, 1, tag);
    out = 0; // the bytes have been copied
    ASSERT_NE(receiver_at_sender().open_packet, nullptr);
    EXPECT_EQ(receiver_at_sender().open_packet->size, sizeof(packet_head) + record_bytes(sizeof out));
    EXPECT_FALSE(to->device.progress()) << "nothing is in the ring";

    // flush: into the ring of rank 1
    from->device.progress();
    EXPECT_EQ(receiver_at_sender().open_packet->size, 0u);
    EXPECT_FALSE(from->via.has_received_all(1));
    EXPECT_EQ(in, 0);
    other.join();

    // poll: out of the ring, matched, copied, and the receiver is granted
    EXPECT_FALSE(others_ready());
    EXPECT_TRUE(to->device.progress());
    EXPECT_TRUE(from->via.has_received_all(1));
    EXPECT_EQ(to->state->waiting_receives(), 0u);
    EXPECT_EQ(in, 42);
    EXPECT_TRUE(others_ready());
    EXPECT_FALSE(receiver.done());

    // it resumes
    const status got = receiver.join();
    EXPECT_EQ(got.source, 0);
    EXPECT_EQ(got.tag, tag);
    EXPECT_EQ(got.size, sizeof in);
}

TEST_F(life_of_a_message, when_it_is_unexpected) {
    connect();
    const int out = 43;
    from->world.send(&out, sizeof out, 1, tag); // no other task: it is flushed at once
    EXPECT_EQ(receiver_at_sender().open_packet->size, 0u);
    EXPECT_TRUE(to->device.progress());
    const auto waits = to->state->peek(0, tag);
    ASSERT_TRUE(waits);
    EXPECT_EQ(waits->size, sizeof out);
    EXPECT_GT(unexpected_bytes(), static_cast<std::ptrdiff_t>(sizeof out)); // with its record

    // recv takes it from the table
    int in = 0;
    to->world.recv(&in, sizeof in, 0, tag);
    EXPECT_EQ(in, 43);
    EXPECT_FALSE(to->state->peek(0, tag));
    EXPECT_EQ(unexpected_bytes(), 0);
}

TEST_F(life_of_a_message, when_it_is_long) {
    connect();
    if (!to->via.limits().one_sided)
        GTEST_SKIP() << "the system forbids copies between processes";
    const std::vector<char> out(long_size, 'x');
    std::vector<char> in(long_size);
    auto receiver = fult::spawn([&] { return to->world.recv(in.data(), in.size(), 0, tag); });
    this_task::yield();
    EXPECT_EQ(to->state->waiting_receives(), 1u);

    // send: an RTS instead of the bytes; the sender waits
    auto sender = fult::spawn([&] { from->world.send(out.data(), out.size(), 1, tag); });
    this_task::yield();
    EXPECT_FALSE(sender.done());
    ASSERT_NE(receiver_at_sender().open_packet, nullptr);
    EXPECT_EQ(receiver_at_sender().open_packet->size, sizeof(packet_head) + record_bytes(sizeof(rts_body)));
    EXPECT_FALSE(from->device.is_idle()) << "the message is still offered";
    EXPECT_EQ(receiver_at_sender().open_packet->size, 0u) << "is_idle() has flushed the RTS";

    // matched: the receiver's rank reads the bytes from the sender's memory
    EXPECT_TRUE(to->device.progress());
    EXPECT_EQ(to->state->waiting_receives(), 0u);
    EXPECT_EQ(in, out);
    EXPECT_FALSE(others_ready()) << "the end of the transfer is an event of the next poll";

    // moved: FIN to the sender, and the receiver is granted
    EXPECT_TRUE(to->device.progress());
    EXPECT_TRUE(others_ready());
    EXPECT_FALSE(from->device.is_idle());
    EXPECT_EQ(receiver.join().size, long_size);
    EXPECT_FALSE(sender.done());

    // FIN: the sender is granted
    EXPECT_FALSE(others_ready());
    EXPECT_TRUE(from->device.progress());
    EXPECT_TRUE(from->device.is_idle());
    EXPECT_TRUE(others_ready());
    sender.join();
}

TEST_F(life_of_a_message, when_its_bytes_cannot_be_read_from_outside) {
    connect(false);
    const std::vector<char> out(long_size, 'y');
    std::vector<char> in(long_size);
    auto receiver = fult::spawn([&] { return to->world.recv(in.data(), in.size(), 0, tag); });
    this_task::yield();
    auto sender = fult::spawn([&] { from->world.send(out.data(), out.size(), 1, tag); });
    this_task::yield();
    from->device.progress(); // RTS

    // matched: CTS with the receive's id, instead of a transfer
    EXPECT_TRUE(to->device.progress());
    EXPECT_EQ(to->state->waiting_receives(), 0u);
    EXPECT_NE(in, out);

    // CTS: the bytes go out in packets, and the sender is granted
    EXPECT_FALSE(others_ready());
    EXPECT_TRUE(from->device.progress());
    EXPECT_TRUE(others_ready());
    sender.join();
    EXPECT_FALSE(receiver.done());

    // the last part ends the receive
    EXPECT_TRUE(to->device.progress());
    EXPECT_EQ(in, out);
    EXPECT_EQ(receiver.join().size, long_size);
}

} // namespace
