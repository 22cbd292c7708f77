#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <random>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "comm/packets/packet_pool.hpp"
#include "tests/support/scale.hpp"

namespace {

using namespace fult::comm::detail;
using fult::testing::scaled;

packet_pool_options small(std::size_t packets, std::size_t reserve, unsigned parts = 1) {
    packet_pool_options o;
    o.capacity = 200;
    o.packets = packets;
    o.reserve = reserve;
    o.slab = 4;
    o.parts = parts;
    return o;
}

TEST(packet_pool, refuses_what_cannot_be) {
    const auto made_from = [](auto change) {
        packet_pool_options o = small(8, 2);
        change(o);
        packet_pool pool(o);
    };
    EXPECT_THROW(made_from([](auto &o) { o.packets = o.reserve; }), std::invalid_argument);
    EXPECT_THROW(made_from([](auto &o) {
                     o.packets = 0;
                     o.reserve = 0;
                 }),
                 std::invalid_argument);
    EXPECT_THROW(made_from([](auto &o) { o.parts = 0; }), std::invalid_argument);
    EXPECT_THROW(made_from([](auto &o) { o.slab = 0; }), std::invalid_argument);
    EXPECT_THROW(made_from([](auto &o) { o.capacity = 0; }), std::invalid_argument);
    EXPECT_NO_THROW(made_from([](auto &) {}));
}

TEST(packet_pool, packets_are_whole_and_apart) {
    for (const std::size_t capacity :
         {1u, 64u, 200u, 3968u, 8064u}) { // the last two: heads a page apart, but for care
        packet_pool_options o = small(20, 0);
        o.capacity = capacity;
        packet_pool pool(o);
        EXPECT_EQ(pool.capacity(), capacity);
        std::vector<packet *> all;
        std::set<std::uintptr_t> sets;
        while (packet *const p = pool.take(0)) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
            EXPECT_EQ(p->capacity, capacity);
            std::memset(p->data(), int(all.size()), capacity);
            sets.insert(reinterpret_cast<std::uintptr_t>(p) % 4096 / 64);
            all.push_back(p);
        }
        ASSERT_EQ(all.size(), 20u);
        EXPECT_GT(sets.size(), 3u);
        for (unsigned i = 0; i < 20; ++i)
            EXPECT_TRUE(std::all_of(all[i]->data(), all[i]->data() + capacity,
                                    [&](std::byte b) { return b == std::byte(i); }));
        for (packet *each : all)
            pool.give(0, *each);
        EXPECT_EQ(pool.available(), 20u);
    }
}

TEST(packet_pool, the_last_given_is_taken_first_at_home) {
    packet_pool pool(small(16, 0, 2));
    packet *const a = pool.take(0), *const b = pool.take(0), *const c = pool.take(1);
    for (packet *each : {a, b, c})
        pool.give(0, *each);
    EXPECT_EQ(a->home, 0u);
    EXPECT_EQ(c->home, 0u);
    EXPECT_EQ(pool.take(0), c);
    EXPECT_EQ(pool.take(0), b);
}

TEST(packet_pool, others_take_the_coldest) {
    packet_pool_options o = small(4, 0, 3);
    packet_pool pool(o);
    packet *all[4];
    for (packet *&each : all)
        ASSERT_NE(each = pool.take(0), nullptr);
    EXPECT_EQ(pool.take(0), nullptr);
    EXPECT_EQ(pool.take_cold(), nullptr);
    for (packet *each : all)
        pool.give(0, *each);
    EXPECT_EQ(pool.take_cold(), all[0]);
    EXPECT_EQ(pool.take(0), all[3]);
    EXPECT_EQ(pool.take(2), all[1]) << "a thief";
    EXPECT_EQ(pool.take_for_receiving(), all[2]);
    EXPECT_EQ(pool.available(), 0u);
}

TEST(packet_pool, the_reserve_is_for_receiving) {
    packet_pool pool(small(8, 3, 2)); // eight packets are enough to work with
    std::vector<packet *> sent;
    while (packet *const p = pool.take(0))
        sent.push_back(p);
    EXPECT_EQ(sent.size(), 5u);
    EXPECT_EQ(pool.take(1), nullptr);
    EXPECT_EQ(pool.take_cold(), nullptr);
    EXPECT_EQ(pool.in_reserve(), 3u);
    std::vector<packet *> posted;
    while (packet *const p = pool.take_for_receiving())
        posted.push_back(p);
    EXPECT_EQ(posted.size(), 3u);
    EXPECT_EQ(pool.in_reserve(), 0u);
    EXPECT_EQ(pool.made(), 8u);
    // returned packets fill the reserve first
    pool.give(0, *sent.back());
    EXPECT_EQ(pool.take(0), nullptr);
    EXPECT_EQ(pool.take_for_receiving(), sent.back());
    sent.insert(sent.end(), posted.begin(), posted.end());
    for (packet *each : sent)
        pool.give(1, *each);
    EXPECT_EQ(pool.in_reserve(), 3u);
    EXPECT_EQ(pool.available(), 5u);
    // and is dipped into last
    for (unsigned i = 0; i < 5; ++i)
        ASSERT_NE(pool.take_for_receiving(), nullptr);
    EXPECT_EQ(pool.in_reserve(), 3u);
}

// A part holds a fixed number of packets; further ones are shared by all, and none is lost.
TEST(packet_pool, a_full_part_spills) {
    constexpr unsigned n = 1000;
    packet_pool pool(small(n, 10, 3));
    for (int round = 0; round < 3; ++round) {
        std::set<packet *> all;
        while (packet *const p = pool.take(0))
            ASSERT_TRUE(all.insert(p).second);
        ASSERT_EQ(all.size(), n - 10u);
        for (packet *each : all)
            pool.give(1, *each);
        EXPECT_EQ(pool.available(), n - 10u);
    }
}

TEST(packet_pool, memory_is_registered_by_the_slab) {
    static int first, second;
    std::vector<std::pair<std::byte *, std::size_t>> slabs;
    packet_pool_options o = small(11, 2);
    o.register_memory = [&](void *base, std::size_t size, void *(&descriptor)[2]) {
        slabs.emplace_back(static_cast<std::byte *>(base), size);
        descriptor[0] = &first;
        descriptor[1] = &second;
        return true;
    };
    std::vector<std::pair<std::byte *, std::size_t>> deregistered;
    o.deregister_memory = [&](void *base, std::size_t size, void *(&descriptor)[2]) {
        EXPECT_EQ(descriptor[0], &first);
        deregistered.emplace_back(static_cast<std::byte *>(base), size);
    };
    {
        packet_pool pool(o);
        EXPECT_EQ(slabs.size(), 1u) << "slabs are made when they are needed";
        while (packet *const p = pool.take_for_receiving()) {
            EXPECT_EQ(p->descriptor[0], &first);
            EXPECT_EQ(p->descriptor[1], &second);
            EXPECT_TRUE(std::any_of(slabs.begin(), slabs.end(), [&](const auto &slab) {
                const auto *at = reinterpret_cast<std::byte *>(p);
                return at >= slab.first && p->data() + p->capacity <= slab.first + slab.second;
            }));
        }
        EXPECT_EQ(slabs.size(), 3u);
        EXPECT_EQ(pool.made(), 11u);
        EXPECT_TRUE(deregistered.empty());
    }
    EXPECT_EQ(deregistered, slabs);
}

TEST(packet_pool, goes_on_with_what_could_be_registered) {
    unsigned calls = 0, allowed = 2;
    packet_pool_options o = small(100, 2);
    o.register_memory = [&](void *, std::size_t, void *(&)[2]) { return ++calls <= allowed; };
    {
        packet_pool pool(o);
        std::vector<packet *> all;
        while (packet *const p = pool.take(0))
            all.push_back(p);
        EXPECT_EQ(all.size(), 6u);
        EXPECT_EQ(pool.maximum(), 8u);
        EXPECT_EQ(pool.take(0), nullptr);
        EXPECT_EQ(calls, 3u) << "asks again and again";
        for (packet *each : all)
            pool.give(0, *each);
        EXPECT_EQ(pool.available(), 6u);
    }
    unsigned deregistered = 0;
    calls = 0;
    allowed = 1;
    o.reserve = 5;
    o.deregister_memory = [&](void *, std::size_t, void *(&)[2]) { ++deregistered; };
    EXPECT_THROW(packet_pool pool(o), std::runtime_error);
    EXPECT_EQ(deregistered, 1u);
}

// More threads than processors; each writes its number into its packets and still finds it there.
TEST(packet_pool, no_packet_is_in_two_hands) {
    constexpr unsigned threads = 8, parts = 4; // so that some share a part
    const unsigned each_does = static_cast<unsigned>(scaled(100'000) + 2'000);
    for (const std::size_t packets : {std::size_t{8}, std::size_t{64}, std::size_t{2000}}) {
        packet_pool pool(small(packets, 3, parts));
        std::atomic<std::size_t> out{0}, refused{0};
        std::barrier start(threads);
        std::vector<std::thread> all;
        for (unsigned t = 0; t < threads; ++t)
            all.emplace_back([&, t] {
                std::mt19937 random(t);
                std::vector<packet *> mine;
                const auto give_some = [&](std::size_t n) {
                    for (; n > 0 && !mine.empty(); --n) {
                        packet *const p = mine.back();
                        mine.pop_back();
                        EXPECT_EQ(p->rank, int(t));
                        std::uint32_t written;
                        std::memcpy(&written, p->data(), sizeof(written));
                        EXPECT_EQ(written, t);
                        out.fetch_sub(1);
                        pool.give(random() % parts, *p);
                    }
                };
                start.arrive_and_wait();
                for (unsigned i = 0; i < each_does; ++i) {
                    const unsigned choice = random() % 8;
                    packet *const p = t == 0   ? pool.take_for_receiving()
                                      : choice ? pool.take(t % parts)
                                               : pool.take_cold();
                    if (p) {
                        EXPECT_LE(out.fetch_add(1) + 1, packets);
                        p->rank = int(t);
                        std::memcpy(p->data(), &t, sizeof(t));
                        mine.push_back(p);
                    } else {
                        refused.fetch_add(1, std::memory_order_relaxed);
                    }
                    if (!p || random() % 4 == 0)
                        give_some(random() % 8);
                }
                give_some(mine.size());
            });
        for (auto &each : all)
            each.join();
        EXPECT_EQ(out.load(), 0u);
        EXPECT_EQ(pool.in_reserve(), 3u);
        EXPECT_EQ(pool.available(), packets - 3);
        if (packets == 8) {
            EXPECT_GT(refused.load(), 0u);
        }
        std::set<packet *> last;
        while (packet *const p = pool.take_for_receiving())
            ASSERT_TRUE(last.insert(p).second);
        EXPECT_EQ(last.size(), packets);
    }
}

// Senders take all packets that they can get. A receiver still finds one of the reserve, unless it has that
// many itself.
TEST(packet_pool, senders_do_not_starve_the_receiver) {
    constexpr unsigned senders = 4, reserve = 3;
    const unsigned rounds = static_cast<unsigned>(scaled(30'000) + 500);
    packet_pool pool(small(8, reserve, senders + 1));
    std::atomic<bool> done{false};
    std::vector<std::thread> all;
    for (unsigned t = 0; t < senders; ++t)
        all.emplace_back([&, t] {
            while (!done.load(std::memory_order_relaxed)) {
                packet *const a = pool.take(t), *const b = pool.take(t);
                ::sched_yield();
                for (packet *each : {a, b})
                    if (each)
                        pool.give(t, *each);
            }
        });
    // Until the reserve is full again a receiver may have to wait for a give; a packet that it returns it can
    // take again.
    std::vector<packet *> mine;
    for (unsigned i = 0; i < rounds; ++i) {
        while (mine.size() < reserve) {
            packet *const p = pool.take_for_receiving();
            if (p)
                mine.push_back(p);
            else
                FAIL() << "round " << i << ": " << mine.size() << " of " << reserve;
        }
        while (!mine.empty()) {
            pool.give(senders, *mine.back());
            mine.pop_back();
        }
    }
    done = true;
    for (auto &each : all)
        each.join();
}

} // namespace
