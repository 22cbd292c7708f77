// Messages into a queue that nobody looks at: their senders wait, and the memory for them is bounded.
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

// Until nothing moves any more.
template <class F> void until_still(F progress) {
    for (int quiet = 0, before = -1; quiet < 100;) {
        const int now = progress();
        quiet = now == before && now > 0 ? quiet + 1 : 0;
        before = now;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        this_task::yield();
    }
}

std::size_t short_and_long(int i) { return i % 10 == 7 ? 40'000 : 1000; }
std::size_t all_long(int) { return 30'000; }
std::size_t all_short(int) { return 700; }
std::size_t longer_than_the_share(int i) { return i % 3 == 0 ? 3 * share : 1000; }

struct queue : ::testing::TestWithParam<std::tuple<std::size_t (*)(int), bool>> {};

TEST_P(queue, that_nobody_empties_slows_its_senders) {
    const auto [size_of, one_sided] = GetParam();
    const runtime running(as_many_workers_as_asked_for());
    constexpr int messages = 300;
    std::atomic<int> sent[3]{};
    run_ranks(small_share(3, one_sided), [&, size_of = size_of](party &p, world &all) {
        endpoint e = p.make_endpoint({.how = delivery::queued});
        if (p.rank != 0) {
            for (int i = 0; i < messages; ++i) {
                e.send(bytes_of(static_cast<unsigned>(i), size_of(i)), 0, 1);
                ++sent[p.rank];
            }
            p.barrier();
            return;
        }
        until_still([&] { return sent[1] + sent[2]; });
        comm::detail::device &own = *all.jobs[0]->on;
        for (int from = 1; from <= 2; ++from) {
            EXPECT_LT(sent[from], messages);
            // One that is longer than the share comes alone; and eight packets may have been under way.
            EXPECT_LE(own.unexpected(from), static_cast<std::ptrdiff_t>(5 * share));
        }
        int next[3] = {};
        while (next[1] + next[2] < 2 * messages) {
            const auto m = e.dequeue();
            if (!m) {
                this_task::yield();
                continue;
            }
            int &which = next[m->about.source];
            ASSERT_EQ(m->about.size, size_of(which));
            EXPECT_TRUE(are_bytes_of(static_cast<unsigned>(which), m->view()));
            ++which;
        }
        EXPECT_FALSE(e.dequeue());
        EXPECT_EQ(own.unexpected(1), 0);
        EXPECT_EQ(own.unexpected(2), 0);
        p.barrier();
    });
}
INSTANTIATE_TEST_SUITE_P(of, queue,
                         ::testing::Combine(::testing::Values(&all_short, &all_long, &short_and_long,
                                                              &longer_than_the_share),
                                            ::testing::Bool()));

// What lies in a queue, or waits for room in it, is given up with its endpoint, and slows nobody afterwards.
TEST(queues, that_end_full_give_their_messages_up) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(small_share(2), [&](party &p, world &all) {
        for (int round = 0; round < 4; ++round) {
            endpoint e = p.make_endpoint({.how = delivery::queued});
            if (p.rank == 0) {
                for (int i = 0; i < 60; ++i)
                    e.send(bytes_of(static_cast<unsigned>(i), short_and_long(i)), 1, 1);
                p.world.send(1, 1, 2);
            } else {
                until_still([&] { return static_cast<int>(all.jobs[1]->on->unexpected(0)); });
                e = endpoint();
                p.world.recv<int>(0, 2);
            }
            p.barrier();
            EXPECT_EQ(all.jobs[static_cast<std::size_t>(p.rank)]->on->unexpected(1 - p.rank), 0);
            p.barrier();
        }
    });
}

// enqueue copies, and says when it has copied enough.
TEST(queues, refuse_what_finds_no_room_at_the_sender) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks(small_share(2), [&](party &p, world &all) {
        endpoint e = p.make_endpoint({.how = delivery::queued});
        const auto send_until_refused = [&](std::size_t size) {
            const std::vector<std::byte> out = bytes_of(size, size);
            int count = 0, refused = 0;
            while (refused < 20) {
                if (e.enqueue(out.data(), size, 1, 1)) {
                    ++count;
                    refused = 0;
                } else {
                    ++refused;
                    std::this_thread::sleep_for(std::chrono::microseconds(500));
                    this_task::yield();
                }
                EXPECT_LE(all.jobs[0]->on->copied(), 2 * share);
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
                        EXPECT_EQ(m->about.size, size);
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

} // namespace
