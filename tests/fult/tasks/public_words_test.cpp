#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/home.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;
using fult::testing::bare_home;

std::vector<std::uint32_t> slots_seen(const public_words &words, bool descending) {
    std::vector<std::uint32_t> found;
    words.scan(descending, [&](std::uint32_t w, std::uint64_t bits) {
        for (std::uint32_t b = 0; b < 64; ++b)
            if ((bits >> b) & 1)
                found.push_back(w * 64 + b);
        return false;
    });
    return found;
}

class public_words_test : public ::testing::Test {
  protected:
    bare_home home;
};

TEST_F(public_words_test, what_is_set_is_found_and_taken_once) {
    const public_words words = home.words(runnable_offsets);
    EXPECT_FALSE(words.any());
    for (const std::uint32_t slot :
         {0u, 63u, 511u, 512u, 513u, 32767u, 32768u, 2097151u, 2097152u, max_slots / 2, max_slots - 1}) {
        words.set_slot(slot);
        EXPECT_TRUE(words.any());
        EXPECT_TRUE(words.contains(slot));
        EXPECT_EQ(slots_seen(words, false), std::vector{slot});
        EXPECT_EQ(slots_seen(words, true), std::vector{slot});
        EXPECT_EQ(words.take(slot >> 6, bit_of(slot)), bit_of(slot));
        EXPECT_EQ(words.take(slot >> 6, bit_of(slot)), 0u);
        EXPECT_TRUE(slots_seen(words, false).empty()); // clears the stale hints
        EXPECT_FALSE(words.any()) << "slot " << slot;
    }
}

TEST_F(public_words_test, a_scan_goes_up_or_down) {
    const public_words words = home.words(runnable_offsets);
    std::set<std::uint32_t> model;
    auto random = fult::testing::seeded(424242);
    for (int i = 0; i < 300; ++i) {
        const auto word = static_cast<std::uint32_t>(random() % (std::uint64_t{1} << (1 + random() % 18)));
        model.insert(word);
        words.set(word, 1);
    }
    std::vector<std::uint32_t> up, down;
    words.scan(false, [&](std::uint32_t w, std::uint64_t) { return up.push_back(w), false; });
    words.scan(true, [&](std::uint32_t w, std::uint64_t) { return down.push_back(w), false; });
    EXPECT_EQ(up, std::vector<std::uint32_t>(model.begin(), model.end()));
    EXPECT_EQ(down, std::vector<std::uint32_t>(model.rbegin(), model.rend()));
}

TEST_F(public_words_test, a_visitor_ends_the_scan) {
    const public_words words = home.words(runnable_offsets);
    for (const std::uint32_t slot : {1u, 5000u, 70000u})
        words.set_slot(slot);
    int visits = 0;
    EXPECT_TRUE(words.scan(false, [&](std::uint32_t, std::uint64_t) { return ++visits == 2; }));
    EXPECT_EQ(visits, 2);
    EXPECT_FALSE(words.scan(false, [](std::uint32_t, std::uint64_t) { return false; }));
}

TEST_F(public_words_test, the_kinds_of_words_do_not_touch_each_other) {
    home.words(pinned_offsets).set_slot(max_slots - 1);
    home.words(returned_offsets).set_slot(4711);
    EXPECT_FALSE(home.words(runnable_offsets).any());
    EXPECT_TRUE(slots_seen(home.words(runnable_offsets), false).empty());
    EXPECT_EQ(slots_seen(home.words(pinned_offsets), false), std::vector{max_slots - 1});
    EXPECT_EQ(slots_seen(home.words(returned_offsets), false), std::vector{4711u});
}

// A setter and a taker at work on the same few lines, whose hints are cleared and set all the time: each bit
// set is found.
TEST_F(public_words_test, no_bit_is_lost_between_setting_and_scanning) {
    const public_words words = home.words(runnable_offsets);
    const std::size_t rounds = fult::testing::scaled(200000);
    std::atomic<std::size_t> sent{0};
    std::thread setter([&] {
        auto random = fult::testing::seeded(99);
        std::size_t done = 0;
        while (done < rounds) {
            const auto slot = static_cast<std::uint32_t>(random() % 3 * 300000 + random() % 8);
            if (words.contains(slot)) {
                ::sched_yield();
                continue;
            }
            words.set_slot(slot);
            sent.store(++done, std::memory_order_release);
        }
    });
    std::size_t taken = 0;
    while (taken < rounds) {
        words.scan(taken % 2 == 0, [&](std::uint32_t w, std::uint64_t bits) {
            taken += static_cast<std::size_t>(std::popcount(words.take(w, bits)));
            return false;
        });
        ::sched_yield();
    }
    setter.join();
    EXPECT_EQ(taken, sent.load());
    EXPECT_TRUE(slots_seen(words, false).empty());
}

} // namespace
