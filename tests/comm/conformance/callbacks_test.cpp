// Handlers and completions run without the device's lock, in order, and end with their endpoint.
#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

void await(const std::atomic<bool> &flag) {
    while (!flag.load(std::memory_order_acquire))
        std::this_thread::yield();
}

// A thread of the program that sends when it may.
std::thread sender_when(const std::atomic<bool> &inside, std::atomic<bool> &sent, endpoint &through, int to) {
    return std::thread([&inside, &sent, &through, to] {
        await(inside);
        while (!through.enqueue("x", 1, to, 9))
            std::this_thread::yield();
        sent.store(true, std::memory_order_release);
    });
}

TEST(callbacks, of_handlers_let_others_send) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        std::atomic<bool> inside{false}, sent{false};
        const auto handler = [&](const status &, std::span<const std::byte>) {
            inside.store(true, std::memory_order_release);
            await(sent); // forever, if the sender waited for the handler
        };
        endpoint handled = p.make_endpoint({.delivery = delivery::handler, .handler = handler});
        std::thread sender;
        if (p.rank == 1)
            sender = sender_when(inside, sent, p.world, 0);
        p.barrier();
        if (p.rank == 0) {
            handled.send(1, 1, 1);
            char got = 0;
            p.world.recv(&got, 1, 1, 9);
            EXPECT_EQ(got, 'x');
        } else if (p.rank == 1) {
            while (!sent.load(std::memory_order_acquire))
                this_task::yield();
            sender.join();
        }
        p.barrier();
    });
}

TEST(callbacks, of_completions_let_others_send) {
    struct slow final : completion {
        std::atomic<bool> inside{false}, sent{false}, ended{false};
        void complete(const completion_event &) noexcept override {
            inside.store(true, std::memory_order_release);
            await(sent);
            ended.store(true, std::memory_order_release);
        }
    };
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        if (p.rank == 0) {
            char got = 0;
            p.world.send(1, 1, 1);
            p.world.recv(&got, 1, 1, 9);
        } else if (p.rank == 1) {
            slow when;
            int value = 0;
            std::thread sender = sender_when(when.inside, when.sent, p.world, 0);
            p.world.irecv(&value, sizeof value, 0, 1, when); // completes here if the message is there
            while (!when.ended.load(std::memory_order_acquire))
                this_task::yield();
            sender.join();
            EXPECT_EQ(value, 1);
        }
        p.barrier();
    });
}

// Many messages a packet; the handler keeps none of them for later.
TEST(callbacks, of_handlers_come_in_order_and_one_at_a_time) {
    constexpr int messages = 3000;
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        std::atomic<int> running_now{0};
        int next = 0;
        std::atomic<bool> all{false};
        const auto handler = [&](const status &envelope, std::span<const std::byte> bytes) {
            EXPECT_EQ(running_now.fetch_add(1), 0);
            ASSERT_EQ(envelope.size, bytes.size());
            EXPECT_TRUE(are_bytes_of(static_cast<unsigned>(next), bytes));
            running_now.fetch_sub(1);
            if (++next == messages)
                all.store(true, std::memory_order_release);
        };
        endpoint handled = p.make_endpoint({.delivery = delivery::handler, .handler = handler});
        p.barrier();
        if (p.rank == 0)
            for (int i = 0; i < messages; ++i)
                handled.send(bytes_of(static_cast<unsigned>(i), i % 50 == 49 ? 20'000 : i % 50), 1, 1);
        else if (p.rank == 1)
            while (!all.load(std::memory_order_acquire))
                this_task::yield();
        p.barrier();
    });
}

// Messages of the second endpoint are queued behind the one whose handler ends it.
TEST(callbacks, of_an_endpoint_end_with_it) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        for (int round = 0; round < 200; ++round) {
            std::optional<endpoint> second;
            std::atomic<bool> has_ended{false};
            int late = 0;
            endpoint first = p.make_endpoint(
                {.delivery = delivery::handler, .handler = [&](const status &, std::span<const std::byte>) {
                     second.reset();
                     has_ended.store(true, std::memory_order_release);
                 }});
            second = p.make_endpoint(
                {.delivery = delivery::handler, .handler = [&](const status &, std::span<const std::byte>) {
                     late += has_ended.load(std::memory_order_relaxed) ? 1 : 0;
                 }});
            p.barrier();
            if (p.rank == 0) {
                for (int i = 0; i < 20; ++i) {
                    if (i == 5)
                        first.send(i, 1, 1);
                    second->send(i, 1, 1);
                }
            } else if (p.rank == 1) {
                while (!has_ended.load(std::memory_order_acquire))
                    this_task::yield();
            }
            p.barrier();
            EXPECT_EQ(late, 0);
        }
    });
}

} // namespace
