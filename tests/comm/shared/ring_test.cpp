// The ring: every size and position, invalid data from the peer, and two concurrent threads.
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include "comm/shared/ring.hpp"
#include "tests/support/long.hpp"

namespace {

using namespace fult::comm::detail;

// A ring in this process' memory.
struct room {
    room(std::size_t size, std::size_t most)
        : words(size / ring_word), place{&control, nullptr, size, most, 0x1234} {
        place.data = reinterpret_cast<std::byte *>(words.data());
    }
    ring_control control;
    std::vector<std::uint64_t> words;
    ring_location place;
};

std::byte byte_of(std::size_t number, std::size_t at) {
    return static_cast<std::byte>(number * 37 + at * 11 + 5);
}

std::vector<std::byte> message(std::size_t number, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = byte_of(number, i);
    return bytes;
}

void expect_message(ring_reader &in, std::size_t number, std::size_t size) {
    std::size_t found = 0;
    ASSERT_EQ(in.peek(found), ring_state::ready);
    ASSERT_EQ(found, size);
    std::vector<std::byte> bytes(size + 8, std::byte{0xee});
    in.take(bytes.data(), size);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        ASSERT_EQ(bytes[i], i < size ? byte_of(number, i) : std::byte{0xee})
            << "byte " << i << " of " << size;
}

TEST(ring, is_empty_at_the_begin) {
    room r(64, 16);
    std::size_t size = 0;
    EXPECT_EQ(ring_reader(r.place).peek(size), ring_state::unavailable);
}

TEST(ring, of_the_least_size_takes_one_largest_message_at_a_time) {
    for (std::size_t most = 0; most < 80; ++most) {
        room r(min_ring(most), most);
        ring_writer out(r.place);
        ring_reader in(r.place);
        for (std::size_t number = 0; number < 50; ++number) {
            const auto bytes = message(number, most);
            ASSERT_EQ(out.put(bytes.data(), most, false), ring_state::ready);
            ASSERT_EQ(out.put(bytes.data(), most, false), ring_state::unavailable);
            expect_message(in, number, most);
            ASSERT_EQ(out.put(bytes.data(), most, false), ring_state::unavailable)
                << "before its room was given back";
            in.release_room();
        }
    }
}

// Every size of a ring, and thereby every offset of a message at its end.
TEST(ring, goes_over_its_end_at_every_offset) {
    std::mt19937 random(1);
    for (std::size_t most : {0U, 1U, 7U, 8U, 9U, 31U, 64U, 100U})
        for (std::size_t size = min_ring(most); size < min_ring(most) + 160; size += ring_word) {
            room r(size, most);
            ring_writer out(r.place);
            ring_reader in(r.place);
            std::vector<std::size_t> sent;
            std::size_t received = 0;
            while (received < 400) {
                const std::size_t length = random() % (most + 1);
                const auto bytes = message(sent.size(), length);
                if (out.put(bytes.data(), length, random() % 2 == 0) == ring_state::ready) {
                    sent.push_back(length);
                    if (random() % 3 != 0)
                        continue;
                }
                for (std::size_t some = random() % 4 + 1; some != 0 && received < sent.size();
                     --some, ++received)
                    ASSERT_NO_FATAL_FAILURE(expect_message(in, received, sent[received]))
                        << "ring of " << size;
                in.release_room();
            }
        }
}

// Bytes of older messages are no messages, whatever they are.
TEST(ring, does_not_take_old_bytes_for_messages) {
    const std::size_t most = 64;
    room r(min_ring(most) + 24, most);
    ring_writer out(r.place);
    ring_reader in(r.place);
    std::size_t size = 0;
    std::vector<std::uint64_t> all_words(8);
    for (unsigned number = 0; number < 1000; ++number) {
        std::fill(all_words.begin(), all_words.end(), number * 0x100000001ULL);
        ASSERT_EQ(out.put(all_words.data(), number % 65, false), ring_state::ready);
        ASSERT_EQ(in.peek(size), ring_state::ready);
        std::byte bytes[64];
        in.take(bytes, size);
        in.release_room();
        ASSERT_EQ(in.peek(size), ring_state::unavailable);
    }
}

TEST(ring, the_reader_publishes_nonsense) {
    const std::size_t most = 64;
    room model(512, most);
    ring_writer(model.place).put("abcdefgh", 8, false);
    const std::uint64_t right = model.words[0];
    const std::uint64_t wrong[] = {right + 1,
                                   right - 1,
                                   right ^ 1ULL << 63,
                                   right ^ 1ULL << 32,
                                   right | 0xffffffff,
                                   right & 0xffffffff00000000,
                                   9,
                                   ~0ULL,
                                   1};
    for (const std::uint64_t word : wrong) {
        room r(512, most);
        ring_reader in(r.place);
        r.words[0] = word;
        std::size_t size = 0;
        const ring_state found = in.peek(size);
        // a size of another message is no nonsense: it is within the ring
        if (word == right + 1 || word == right - 1)
            EXPECT_TRUE(found == ring_state::ready && size <= most);
        else
            EXPECT_EQ(found, ring_state::broken) << std::hex << word;
    }
}

TEST(ring, the_writer_publishes_nonsense) {
    for (const std::uint64_t taken : {8ULL, 1000ULL, ~0ULL, ~7ULL, 3ULL}) {
        room r(64, 16);
        ring_writer out(r.place);
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::unavailable);
        r.control.taken.store(taken);
        EXPECT_EQ(out.put("12345678", 8, false), taken == 8 ? ring_state::ready : ring_state::broken)
            << taken;
    }
    // no room is ever taken back
    room r(64, 16);
    ring_writer out(r.place);
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
    r.control.taken.store(48);
    ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
    r.control.taken.store(32);
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(out.put("12345678", 8, false), ring_state::ready);
    EXPECT_EQ(out.put("12345678", 8, false), ring_state::broken);
}

TEST(ring, random_bytes_do_no_harm) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 3000; ++round) {
        const std::size_t most = random() % 64;
        room r(min_ring(most) + random() % 8 * ring_word, most);
        ring_writer out(r.place);
        ring_reader in(r.place);
        const auto bytes = message(1, most);
        std::vector<std::byte> arrived(most);
        for (int step = 0; step < 60; ++step) {
            out.put(bytes.data(), random() % (most + 1), false);
            std::size_t size = 0;
            if (in.peek(size) == ring_state::ready) {
                ASSERT_LE(size, most);
                in.take(arrived.data(), size);
                in.release_room();
            }
            if (random() % 8 == 0)
                r.words[random() % r.words.size()] = random() % 2 == 0 ? random() : random() % 70;
            if (random() % 16 == 0)
                r.control.taken.store(random() % 2 == 0 ? random() : random() % 1000);
        }
    }
}

TEST(ring, threads_lose_nothing) {
    for (const std::size_t extra : {0U, 8U, 1024U}) {
        const std::size_t most = 40;
        // A small ring has room for one message: the threads take turns, which costs most where they share a
        // processor.
        const std::size_t count = fult::testing::rounds(extra < most ? 1000 : 20'000, 20'000);
        room r(min_ring(most) + extra, most);
        std::thread writer([&] {
            ring_writer out(r.place);
            for (std::size_t number = 0; number < count; ++number) {
                const auto bytes = message(number, number % (most + 1));
                while (out.put(bytes.data(), bytes.size(), false) != ring_state::ready)
                    sched_yield();
            }
        });
        ring_reader in(r.place);
        std::byte bytes[most];
        std::size_t wrong = 0;
        for (std::size_t number = 0; number < count; ++number) {
            std::size_t size = 0;
            ring_state found;
            while ((found = in.peek(size)) == ring_state::unavailable)
                sched_yield();
            if (found != ring_state::ready || size != number % (most + 1)) {
                ++wrong;
                break;
            }
            in.take(bytes, size);
            for (std::size_t i = 0; i < size; ++i)
                wrong += bytes[i] != byte_of(number, i) ? 1 : 0;
            if (number % 3 == 0 || extra == 0 || extra == 8)
                in.release_room();
        }
        EXPECT_EQ(wrong, 0U);
        if (wrong != 0)
            _Exit(1); // the writer would wait forever
        in.release_room();
        writer.join();
    }
}

TEST(ring, no_reader_rests_on_a_message) {
    room r(64, 16);
    ring_writer out(r.place);
    ring_reader in(r.place);
    std::byte bytes[64];
    std::size_t size = 0;
    ASSERT_EQ(out.put("12345678", 8, true), ring_state::ready);
    EXPECT_TRUE(out.claim_notification());
    EXPECT_FALSE(out.claim_notification());
    EXPECT_FALSE(in.request_notification());
    ASSERT_EQ(in.peek(size), ring_state::ready);
    in.take(bytes, size);
    EXPECT_TRUE(in.request_notification());
    ASSERT_EQ(out.put("12345678", 8, true), ring_state::ready);
    EXPECT_TRUE(out.claim_notification());
}

// A reader that rests whenever it may, and a word that notifies it. tests/model/ring.pml checks this for all
// interleavings.
TEST(ring, a_resting_reader_is_notified) {
    const std::size_t count = fult::testing::rounds(5000, 20'000);
    constexpr std::size_t writers = 2;
    std::vector<std::unique_ptr<room>> rooms;
    std::atomic<std::uint64_t> filled{0};
    std::vector<std::thread> threads;
    for (std::size_t w = 0; w < writers; ++w) {
        rooms.push_back(std::make_unique<room>(128, 8));
        threads.emplace_back([&, &place = rooms[w]->place, w] {
            ring_writer out(place);
            for (std::size_t number = 0; number < count; ++number) {
                while (out.put(&number, sizeof number, true) != ring_state::ready)
                    sched_yield();
                if (out.claim_notification())
                    filled.fetch_or(1ULL << w, std::memory_order_release);
            }
        });
    }
    std::vector<ring_reader> readers;
    for (const auto &each : rooms)
        readers.emplace_back(each->place);
    std::vector<std::size_t> next(writers);
    bool watched[writers] = {};
    bool wrong = false;
    std::size_t notified = 0;
    while (!wrong && (next[0] < count || next[1] < count)) {
        const std::uint64_t bits = filled.exchange(0, std::memory_order_acquire);
        bool any = bits != 0;
        for (std::size_t w = 0; w < writers; ++w) {
            notified += bits >> w & 1;
            watched[w] = watched[w] || (bits >> w & 1) != 0;
            std::size_t size = 0;
            if (!watched[w])
                continue;
            while (readers[w].peek(size) == ring_state::ready) {
                std::size_t number = 0;
                readers[w].take(reinterpret_cast<std::byte *>(&number), std::min(size, sizeof number));
                wrong = wrong || size != sizeof number || number != next[w]++;
                any = true;
            }
            readers[w].release_room();
            watched[w] = !readers[w].request_notification();
        }
        if (!any)
            sched_yield();
    }
    if (wrong) {
        ADD_FAILURE() << "another message";
        _Exit(1);
    }
    EXPECT_GE(notified, writers);
    for (std::thread &each : threads)
        each.join();
}

} // namespace
