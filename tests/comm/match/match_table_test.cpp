#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "comm/match/match_table.hpp"
#include "tests/comm/match/count_items.hpp"
#include "tests/support/scale.hpp"

namespace {

using namespace fult::comm::detail;
using kind = match_table::kind;
using fult::testing::scaled;

struct numbered : match_item {
    unsigned number = 0;
};

std::vector<numbered> items(std::size_t n) {
    std::vector<numbered> all(n);
    for (std::size_t i = 0; i < n; ++i)
        all[i].number = static_cast<unsigned>(i);
    return all;
}

std::vector<unsigned> numbers(const match_item *list) {
    std::vector<unsigned> out;
    for (; list; list = list->next)
        out.push_back(static_cast<const numbered *>(list)->number);
    return out;
}

TEST(match_key, has_room_for_each_part) {
    EXPECT_EQ(match_key(0xfff, 0, 0), 0xfff0'0000'0000'0000u);
    EXPECT_EQ(match_key(0, 0xfffff, 0), 0xf'ffff'0000'0000u);
    EXPECT_EQ(match_key(0, 0, 0xffffffff), 0xffffffffu);
}

TEST(match_table, refuses_sizes_that_are_no_powers_of_two) {
    EXPECT_THROW(match_table(0), std::invalid_argument);
    EXPECT_THROW(match_table(4), std::invalid_argument);
    EXPECT_THROW(match_table(24), std::invalid_argument);
    EXPECT_THROW(match_table(16, 8), std::invalid_argument);
    EXPECT_THROW(match_table(16, 24), std::invalid_argument);
    EXPECT_EQ(match_table(16, 16).buckets(), 16u);
}

TEST(match_table, a_message_finds_the_receive_of_its_key) {
    match_table table;
    auto receives = items(2), messages = items(3);
    EXPECT_EQ(table.access(7, receives[0], kind::receive), nullptr);
    EXPECT_EQ(table.access(8, receives[1], kind::receive), nullptr);
    EXPECT_EQ(table.access(9, messages[0], kind::message), nullptr);
    EXPECT_EQ(table.access(8, messages[1], kind::message), &receives[1]);
    EXPECT_EQ(table.access(7, messages[2], kind::message), &receives[0]);
    EXPECT_EQ(count_items(table, kind::receive), 0u);
    EXPECT_EQ(count_items(table, kind::message), 1u);
    EXPECT_FALSE(receives[0].queued);
    EXPECT_FALSE(messages[2].queued);
}

TEST(match_table, a_receive_finds_the_message_of_its_key) {
    match_table table;
    auto receives = items(1), messages = items(1);
    EXPECT_EQ(table.access(0, messages[0], kind::message), nullptr);
    EXPECT_EQ(table.access(0, receives[0], kind::receive), &messages[0]);
}

TEST(match_table, those_of_one_key_keep_their_order) {
    match_table table;
    auto receives = items(100), messages = items(100);
    for (int round = 0; round < 3; ++round) {
        for (auto &each : receives)
            ASSERT_EQ(table.access(5, each, kind::receive), nullptr);
        EXPECT_EQ(count_items(table, kind::receive), 100u);
        for (unsigned i = 0; i < 100; ++i)
            ASSERT_EQ(table.access(5, messages[i], kind::message), &receives[i]);
    }
}

// Eight buckets and no more: most keys are chained.
TEST(match_table, a_crowded_bucket_forgets_nothing) {
    constexpr unsigned n = 1000;
    match_table table(8, 8);
    auto receives = items(2 * n), messages = items(2 * n);
    for (unsigned i = 0; i < 2 * n; ++i)
        ASSERT_EQ(table.access(i % n * 77, receives[i], kind::receive), nullptr);
    EXPECT_EQ(count_items(table, kind::receive), 2u * n);
    for (unsigned i = 0; i < 2 * n; ++i) {
        const unsigned key = i % n * 389 % n; // another order
        ASSERT_EQ(table.access(key * 77, messages[i], kind::message), &receives[key + i / n * n]);
    }
    EXPECT_EQ(count_items(table, kind::receive), 0u);
    EXPECT_EQ(table.buckets(), 8u);
}

TEST(match_table, what_is_removed_is_not_matched) {
    match_table table(8, 8);
    for (const unsigned others : {0u, 100u}) { // in an entry, or chained
        auto around = items(others), receives = items(5), messages = items(5);
        for (auto &each : around)
            table.access(1000 + each.number, each, kind::receive);
        for (auto &each : receives)
            table.access(1, each, kind::receive);
        EXPECT_TRUE(table.remove(receives[0]));
        EXPECT_FALSE(table.remove(receives[0]));
        EXPECT_TRUE(table.remove(receives[2]));
        EXPECT_TRUE(table.remove(receives[4]));
        EXPECT_EQ(table.access(1, receives[0], kind::receive), nullptr); // behind the others now
        EXPECT_EQ(table.access(1, messages[0], kind::message), &receives[1]);
        EXPECT_FALSE(table.remove(receives[1]));
        EXPECT_EQ(table.access(1, messages[1], kind::message), &receives[3]);
        EXPECT_EQ(table.access(1, messages[2], kind::message), &receives[0]);
        EXPECT_EQ(table.access(1, messages[3], kind::message), nullptr);
        EXPECT_TRUE(table.remove(messages[3]));
        for (auto &each : around)
            ASSERT_TRUE(table.remove(each));
        EXPECT_EQ(count_items(table, kind::receive) + count_items(table, kind::message), 0u);
    }
}

TEST(match_table, a_look_leaves_the_oldest) {
    match_table table;
    auto messages = items(2), receives = items(1);
    unsigned seen = 99;
    const auto see = [&](match_item &i) { seen = static_cast<numbered &>(i).number; };
    EXPECT_FALSE(table.peek(3, kind::message, see));
    table.access(3, messages[0], kind::message);
    table.access(3, messages[1], kind::message);
    EXPECT_FALSE(table.peek(3, kind::receive, see));
    EXPECT_EQ(seen, 99u);
    EXPECT_TRUE(table.peek(3, kind::message, see));
    EXPECT_EQ(seen, 0u);
    EXPECT_EQ(table.access(3, receives[0], kind::receive), &messages[0]);
    EXPECT_TRUE(table.peek(3, kind::message, see));
    EXPECT_EQ(seen, 1u);
}

TEST(match_table, remove_if_takes_those_of_a_kind_in_order) {
    match_table table(8, 64);
    auto receives = items(300), messages = items(60);
    for (auto &each : receives)
        table.access(each.number % 100, each, kind::receive);
    for (auto &each : messages)
        table.access(1000 + each.number % 20, each, kind::message);
    const auto gone = numbers(table.remove_if(kind::receive, [](match_item &i) { return i.key % 2 == 0; }));
    EXPECT_EQ(gone.size(), 150u);
    std::map<unsigned, unsigned> last;
    for (const unsigned each : gone) {
        EXPECT_EQ(each % 2, 0u);
        EXPECT_FALSE(receives[each].queued);
        EXPECT_GE(each, last[each % 100]) << "the order of a key was lost";
        last[each % 100] = each;
    }
    EXPECT_EQ(count_items(table, kind::receive), 150u);
    EXPECT_EQ(count_items(table, kind::message), 60u);
    for (unsigned i = 0; i < 60; ++i)
        ASSERT_EQ(table.access(1000 + i % 20, receives[2 * i], kind::receive), &messages[i]) << i;
    EXPECT_EQ(numbers(table.remove_if(kind::receive, [](match_item &) { return true; })).size(), 150u);
    EXPECT_EQ(table.remove_if(kind::receive, [](match_item &) { return true; }), nullptr);
}

// From a key's queue of five, some.
TEST(match_table, remove_if_leaves_the_others_of_a_queue) {
    for (unsigned mask = 0; mask < 32; ++mask) {
        match_table table(8, 8);
        auto receives = items(5), messages = items(5);
        std::vector<unsigned> left, expected;
        for (auto &each : receives)
            table.access(1, each, kind::receive);
        for (unsigned i = 0; i < 5; ++i)
            (mask >> i & 1 ? expected : left).push_back(i);
        EXPECT_EQ(
            numbers(table.remove_if(
                kind::receive, [&](match_item &i) { return mask >> static_cast<numbered &>(i).number & 1; })),
            expected);
        for (unsigned i = 0; i < left.size(); ++i)
            EXPECT_EQ(table.access(1, messages[i], kind::message), &receives[left[i]]);
    }
}

TEST(match_table, grows_and_keeps_everything) {
    const std::size_t n = scaled(100'000) + 5'000;
    match_table table(8);
    auto receives = items(n), messages = items(n);
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> keys(n / 2);
    for (auto &each : keys)
        each = random();
    for (auto &each : receives)
        ASSERT_EQ(table.access(keys[each.number % keys.size()], each, kind::receive), nullptr);
    EXPECT_GE(table.buckets(), n / 16);
    EXPECT_LE(table.buckets(), n);
    EXPECT_EQ(count_items(table, kind::receive), n);
    for (auto &each : messages)
        ASSERT_EQ(table.access(keys[each.number % keys.size()], each, kind::message), &receives[each.number]);
    EXPECT_EQ(count_items(table, kind::receive), 0u);
    EXPECT_EQ(count_items(table, kind::message), 0u);
}

// Two levels are made before an old bucket is accessed again.
TEST(match_table, a_bucket_may_be_several_levels_behind) {
    match_table table(8);
    auto early = items(8), many = items(20'000), messages = items(8);
    for (auto &each : early)
        table.access(match_key(0, 1, each.number), each, kind::receive);
    std::size_t before = table.buckets();
    unsigned levels = 0;
    for (auto &each : many) { // those of one bucket of each eight
        table.access(match_key(1, 0, each.number * 8), each, kind::receive);
        levels += table.buckets() != before;
        before = table.buckets();
    }
    EXPECT_GE(levels, 3u);
    EXPECT_EQ(count_items(table, kind::receive), 20'008u);
    for (auto &each : messages)
        EXPECT_EQ(table.access(match_key(0, 1, each.number), each, kind::message), &early[each.number]);
}

// Tags as programs number them: the table must not chain them, and grows if necessary.
TEST(match_table, regular_keys_are_spread) {
    constexpr unsigned n = 1 << 12, size = 1 << 12;
    for (unsigned shift = 0; shift <= 20; ++shift) {
        match_table table(size);
        auto receives = items(n);
        for (auto &each : receives)
            table.access(match_key(1, 2, each.number << shift), each, kind::receive);
        EXPECT_EQ(table.buckets(), size) << "tags in strides of 2^" << shift;
    }
    for (unsigned stride = 3; stride < 3000; stride += 10) {
        match_table table(size);
        auto receives = items(n);
        for (auto &each : receives)
            table.access(match_key(1, 2, each.number * stride), each, kind::receive);
        EXPECT_EQ(table.buckets(), size) << "tags in strides of " << stride;
    }
    match_table ranks(size), both(size), endpoints(size);
    auto first = items(n), second = items(n), third = items(n);
    for (unsigned i = 0; i < n; ++i) {
        ranks.access(match_key(0, i, 0), first[i], kind::receive);
        both.access(match_key(0, i / 64, i % 64), second[i], kind::receive);
        endpoints.access(match_key(i, 0, 0), third[i], kind::receive);
    }
    EXPECT_EQ(ranks.buckets(), size);
    EXPECT_EQ(both.buckets(), size);
    EXPECT_EQ(endpoints.buckets(), size);
    match_table full(size); // three keys a bucket: not one chained
    auto many = items(3 * size);
    for (auto &each : many)
        full.access(match_key(1, 2, each.number), each, kind::receive);
    EXPECT_EQ(full.buckets(), size);
}

// Random histories compared with a map of queues, in tables that stay small and in tables that grow.
TEST(match_table, does_what_a_map_of_queues_does) {
    std::mt19937 random(2);
    for (std::size_t round = 0; round < scaled(200) + 4; ++round) {
        match_table table(8, round % 2 ? 8 : 1 << 12);
        std::map<std::uint64_t, std::deque<numbered *>> reference;
        auto all = items(600);
        std::vector<numbered *> idle;
        for (auto &each : all)
            idle.push_back(&each);
        const unsigned keys = 1u << random() % 9;
        for (int step = 0; step < 3000; ++step) {
            const std::uint64_t key = match_key(1, random() % 2, random() % keys * 5);
            const auto choice = random() % 16;
            if (choice < 12 && !idle.empty()) {
                numbered *const own = idle.back();
                const kind k = random() % 2 ? kind::receive : kind::message;
                auto &queue = reference[key];
                numbered *const expected =
                    !queue.empty() && queue.front()->kind != k ? queue.front() : nullptr;
                ASSERT_EQ(table.access(key, *own, k), expected);
                if (expected) {
                    queue.pop_front();
                    idle.push_back(expected);
                } else {
                    idle.pop_back();
                    queue.push_back(own);
                }
            } else if (choice < 15) {
                numbered &one = all[random() % all.size()];
                const bool in = std::find(idle.begin(), idle.end(), &one) == idle.end();
                const std::uint64_t its = one.key;
                ASSERT_EQ(table.remove(one), in);
                if (in) {
                    std::erase(reference[its], &one);
                    idle.push_back(&one);
                }
            } else {
                const kind k = random() % 2 ? kind::receive : kind::message;
                const auto &queue = reference[key];
                match_item *seen = nullptr;
                ASSERT_EQ(table.peek(key, k, [&](match_item &i) { seen = &i; }),
                          !queue.empty() && queue.front()->kind == k);
                if (seen) {
                    ASSERT_EQ(seen, queue.front());
                }
            }
            if (step % 500 == 499) {
                const unsigned third = random() % 3;
                const auto unwanted = [&](match_item &i) {
                    return static_cast<numbered &>(i).number % 3 == third;
                };
                std::size_t expected = 0, got = 0;
                for (auto &[its, queue] : reference)
                    expected += std::erase_if(
                        queue, [&](numbered *i) { return i->kind == kind::receive && unwanted(*i); });
                for (match_item *each = table.remove_if(kind::receive, unwanted); each;
                     each = each->next, ++got)
                    idle.push_back(static_cast<numbered *>(each));
                ASSERT_EQ(got, expected);
                ASSERT_EQ(count_items(table, kind::receive) + count_items(table, kind::message),
                          all.size() - idle.size());
            }
            // hints: of any key, at any time
            table.prefetch(key);
            table.prefetch_item(key);
        }
    }
}

} // namespace
