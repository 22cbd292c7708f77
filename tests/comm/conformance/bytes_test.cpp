// Bytes that no rank has sent: random ones, and modified packets of this protocol. No rank crashes, and
// ranks that do not communicate with the receiver continue. ../fuzz has a fuzzer for longer runs.
#include <gtest/gtest.h>
#include <random>

#include "comm/packets/wire.hpp"
#include "tests/comm/conformance/ranks.hpp"

// A message with an announced length beyond all memory is refused; the rank does not end.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=512";
}
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=512";
}

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;
using namespace fult::comm::detail;

std::vector<std::byte> random_bytes(std::mt19937_64 &random, std::size_t size) {
    std::vector<std::byte> all(size);
    for (std::byte &each : all)
        each = static_cast<std::byte>(random());
    return all;
}

// Sometimes a number that has a meaning.
std::uint64_t number(std::mt19937_64 &random) {
    static constexpr std::uint64_t likely[] = {
        0, 1, 2, 8, 0x1'0000'0000, 0x1'0000'0001, 0x2'0000'0000, 8192, 50'000, ~std::uint64_t{0}};
    const std::uint64_t pick = random() % 16;
    return pick < std::size(likely) ? likely[pick] : random() >> (random() % 64);
}

// A packet whose heads are right and whose bodies are not.
std::vector<std::byte> likely_packet(std::mt19937_64 &random, int ranks) {
    std::vector<std::byte> all;
    const auto put = [&](const auto &value) {
        const auto *bytes = reinterpret_cast<const std::byte *>(&value);
        for (std::size_t i = 0; i < sizeof value; ++i)
            all.push_back(bytes[i]);
    };
    put(packet_head{packet_head::expected,
                    static_cast<std::uint32_t>(random() % static_cast<unsigned>(ranks + 1))});
    for (unsigned records = 1 + random() % 5; records != 0 && all.size() < 7000; --records) {
        const std::size_t size = random() % 3 == 0 ? random() % 500 : 8 * (random() % 6);
        record_head head{};
        head.kind = static_cast<std::uint8_t>(random() % (last_record + 2U));
        head.flags = static_cast<std::uint8_t>(random());
        head.endpoint = static_cast<std::uint16_t>(random() % 8 == 0 ? random() : random() % 4);
        head.tag = static_cast<std::uint32_t>(random() % 4 + 1000);
        head.size = static_cast<std::uint32_t>(random() % 20 == 0 ? random() : size);
        put(head);
        while (all.size() % 8 != 0)
            all.push_back({});
        for (std::size_t i = 0; i < padded(size) / 8; ++i)
            put(number(random));
    }
    if (random() % 4 == 0)
        all.resize(random() % (all.size() + 1));
    return all;
}

// The reader stays within its bytes, whatever they are.
TEST(bytes, reader) {
    auto random = fult::testing::seeded(7);
    for (std::size_t i = 0; i < fult::testing::scaled(200'000); ++i) {
        const auto packet = i % 2 == 0 ? likely_packet(random, 4) : random_bytes(random, random() % 200);
        record_reader reader(packet, 4);
        std::size_t records = 0;
        const std::byte *end = packet.data() + packet.size();
        record_view r;
        while (reader.next(r)) {
            ASSERT_LT(reader.source(), 4);
            ASSERT_LE(r.body.data() + r.body.size(), end);
            ASSERT_LE(static_cast<std::uint8_t>(r.kind), last_record);
            ASSERT_LT(++records, packet.size());
        }
    }
}

struct injected : ::testing::TestWithParam<bool> {};

// Rank 2 of 4 receives bad packets while it exchanges messages with rank 3; ranks 0 and 1 exchange messages,
// too. The bad packets name a wrong sender, so ranks 2 and 3 may lose each other; ranks 0 and 1 do not
// notice.
TEST_P(injected, into_a_rank_that_is_busy) {
    const runtime running(as_many_workers_as_asked_for());
    world_settings settings;
    settings.ranks = 4;
    settings.network.one_sided = GetParam();
    std::atomic<int> over{0};
    run_ranks(settings, [&](party &p, world &all) {
        endpoint queue = p.make_endpoint({.delivery = delivery::queued});
        endpoint wild = p.make_endpoint({.wildcards = true});
        auto random = std::mt19937_64(static_cast<unsigned>(p.rank) + 11);
        const int partner = p.rank ^ 1;
        const bool concerned = p.rank >= 2;
        const std::vector<std::byte> out(20'000, std::byte{7});
        std::vector<std::byte> in(20'000);
        // What others may write lies between what they may not.
        std::vector<std::byte> memory(9000, std::byte{3});
        region shown(p.world, memory.data() + 1000, 7000);
        request sent;
        try {
            for (unsigned i = 0; i < fult::testing::scaled(3000); ++i) {
                for (int k = 0; k < 3 && p.rank == 2; ++k) {
                    const auto packet =
                        k == 0 ? random_bytes(random, random() % 300) : likely_packet(random, 4);
                    inject_bytes(*all.hub, 2, packet.data(), packet.size());
                }
                const std::size_t size = i % 8 == 0 ? out.size() : 100;
                sent = wild.isend(out.data(), size, partner, 1); // tags of bad packets: 1000 and more
                const status got = wild.recv(in, partner, 1);
                EXPECT_EQ(got.size, size);
                EXPECT_TRUE(concerned || in.front() == std::byte{7});
                sent.wait();
                while (queue.dequeue())
                    ;
                this_task::yield();
            }
        } catch (const error &e) {
            EXPECT_TRUE(concerned) << e.what();
            all.jobs[static_cast<std::size_t>(partner)]->first_device->fail_peer(
                p.rank); // as when its process ends
            all.jobs[static_cast<std::size_t>(p.rank)]->first_device->fail_peer(partner);
            try {
                sent.wait(); // a packet may have announced that the partner leaves: its RTS is still there
            } catch (const error &) {
            }
        }
        // A transfer that was announced but never starts ends with the rank that it named as its sender.
        for (int rank = 0; rank < settings.ranks && p.rank == 2; ++rank)
            all.jobs[2]->first_device->fail_peer(rank);
        shown = region();
        for (std::size_t i = 0; i < 1000; ++i)
            EXPECT_TRUE(memory[i] == std::byte{3} && memory[8000 + i] == std::byte{3});
        ++over;
        while (over != settings.ranks)
            this_task::yield();
    });
}
INSTANTIATE_TEST_SUITE_P(kinds, injected, ::testing::Bool());

// Over a network that strangers can reach, packets without the job's secret are refused. Tries each kind of
// record.
TEST(strangers, know_no_secret) {
    const runtime running(as_many_workers_as_asked_for());
    world_settings settings;
    settings.network.guarded = true;
    settings.secret = 0x0123'4567'89ab'cdef;
    run_ranks(settings, [&](party &p, world &all) {
        auto random = fult::testing::seeded(5);
        const auto with_secret = [](std::vector<std::byte> packet, std::uint64_t secret) {
            const auto *bytes = reinterpret_cast<const std::byte *>(&secret);
            if (packet.size() >= sizeof(packet_head))
                packet.insert(packet.begin() + sizeof(packet_head), bytes, bytes + sizeof secret);
            return packet;
        };
        std::uint64_t sent = 0;
        for (std::uint32_t i = 0; i < fult::testing::scaled(2000); ++i) {
            if (p.rank == 0) {
                const auto packet = likely_packet(random, 2);
                const std::uint64_t wrong = settings.secret ^ std::uint64_t{1} << i % 64;
                sent += inject_bytes(*all.hub, 1, packet.data(), packet.size()) ? 1 : 0;
                const auto guarded = with_secret(packet, i % 2 == 0 ? wrong : random());
                sent += inject_bytes(*all.hub, 1, guarded.data(), guarded.size()) ? 1 : 0;
                p.world.send(i, 1, 1000);
            } else {
                ASSERT_EQ(p.world.recv<std::uint32_t>(0, 1000), i);
            }
        }
        if (p.rank == 0) {
            p.world.send(sent, 1, 1);
            EXPECT_EQ(all.jobs[0]->refused_packets(), 0U);
        } else {
            EXPECT_EQ(p.world.recv<std::uint64_t>(0, 1), all.jobs[1]->refused_packets());
        }
    });
}

} // namespace
