// Wildcards compared with a matcher that searches its queues from the oldest entry.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

#include "comm/match/wildcards.hpp"
#include "tests/comm/match/count_items.hpp"
#include "tests/support/long.hpp"
#include "tests/support/scale.hpp"

namespace {

using namespace fult::comm::detail;
using kind = wildcard_matcher::kind;
using fult::testing::rounds;
using fult::testing::scaled;

struct numbered_wildcard : wildcard_message {
    unsigned number = 0;
    match_pattern wanted;   // of a receive
    std::uint64_t sent = 0; // of a message
};

constexpr std::uint64_t key_of(std::uint32_t source, std::uint32_t tag) { return match_key(1, source, tag); }

bool fits(const match_pattern &what, std::uint64_t key) {
    return (what.any_source || what.key >> 32 == key >> 32) &&
           (what.any_tag || (what.key & 0xffffffff) == (key & 0xffffffff));
}

// The MPI standard's rule of two queues, literally.
class simple_matcher {
  public:
    numbered_wildcard *post(const match_pattern &what, numbered_wildcard &receive) {
        for (auto at = messages.begin(); at != messages.end(); ++at)
            if (fits(what, (*at)->sent)) {
                numbered_wildcard *const found = *at;
                messages.erase(at);
                return found;
            }
        receive.wanted = what;
        receives.push_back(&receive);
        return nullptr;
    }
    numbered_wildcard *arrive(std::uint64_t key, numbered_wildcard &message) {
        for (auto at = receives.begin(); at != receives.end(); ++at)
            if (fits((*at)->wanted, key)) {
                numbered_wildcard *const found = *at;
                receives.erase(at);
                return found;
            }
        message.sent = key;
        messages.push_back(&message);
        return nullptr;
    }
    bool remove(numbered_wildcard &item) {
        return std::erase(receives, &item) + std::erase(messages, &item) == 1;
    }
    numbered_wildcard *peek(const match_pattern &what) const {
        for (numbered_wildcard *each : messages)
            if (fits(what, each->sent))
                return each;
        return nullptr;
    }

    std::vector<numbered_wildcard *> receives, messages;
};

TEST(wildcards, each_pattern_takes_the_oldest_that_fits) {
    const match_pattern patterns[] = {{key_of(3, 7), false, false},
                                      {key_of(0, 7), true, false},
                                      {key_of(3, 0), false, true},
                                      {0, true, true}};
    const unsigned expected[] = {5, 1, 2, 0};
    for (unsigned p = 0; p < 4; ++p) {
        wildcard_matcher matcher;
        std::vector<numbered_wildcard> messages(7);
        numbered_wildcard receive;
        const std::uint64_t keys[] = {key_of(1, 1), key_of(2, 7), key_of(3, 8), key_of(4, 7),
                                      key_of(3, 9), key_of(3, 7), key_of(3, 7)};
        for (unsigned i = 0; i < 7; ++i)
            ASSERT_EQ(matcher.arrive(keys[i], messages[i]), nullptr);
        wildcard_item *seen = nullptr;
        EXPECT_TRUE(matcher.peek(patterns[p], [&](wildcard_item &i) { seen = &i; }));
        EXPECT_EQ(seen, &messages[expected[p]]);
        EXPECT_EQ(matcher.post(patterns[p], receive), &messages[expected[p]]);
        EXPECT_EQ(seen->key, keys[expected[p]]) << "the status comes from the key";
        EXPECT_EQ(count_items(matcher, kind::message), 6u);
    }
}

TEST(wildcards, a_message_takes_the_receive_posted_first) {
    std::vector<unsigned> order = {0, 1, 2, 3};
    const match_pattern patterns[] = {{key_of(3, 7), false, false},
                                      {key_of(0, 7), true, false},
                                      {key_of(3, 0), false, true},
                                      {0, true, true}};
    do {
        wildcard_matcher matcher;
        std::vector<numbered_wildcard> receives(4), messages(5);
        for (unsigned i = 0; i < 4; ++i)
            ASSERT_EQ(matcher.post(patterns[order[i]], receives[i]), nullptr);
        for (unsigned i = 0; i < 4; ++i)
            ASSERT_EQ(matcher.arrive(key_of(3, 7), messages[i]), &receives[i]);
        ASSERT_EQ(matcher.arrive(key_of(3, 7), messages[4]), nullptr);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(wildcards, an_open_half_of_a_key_is_not_looked_at) {
    wildcard_matcher matcher;
    numbered_wildcard receive, message;
    EXPECT_EQ(matcher.post({key_of(999, 7), true, false}, receive), nullptr);
    EXPECT_EQ(matcher.arrive(key_of(5, 8), message), nullptr);
    EXPECT_TRUE(matcher.remove(message));
    EXPECT_EQ(matcher.arrive(key_of(5, 7), message), &receive);
    EXPECT_EQ(count_items(matcher, kind::receive) + count_items(matcher, kind::message), 0u);
}

TEST(wildcards, random_histories) {
    std::mt19937 random(3);
    for (std::size_t round = 0; round < scaled(rounds(50, 300)) + 6; ++round) {
        wildcard_matcher matcher;
        simple_matcher simple;
        std::vector<numbered_wildcard> items(round % 10 == 0 ? 3000 : 200);
        std::vector<numbered_wildcard *> idle;
        for (auto &each : items) {
            each.number = static_cast<unsigned>(&each - items.data());
            idle.push_back(&each);
        }
        // few values make many fit, many values make the indexes grow
        const unsigned sources = 1u << random() % 6, tags = 1u << random() % (round % 10 == 0 ? 12 : 4);
        const unsigned open = random() % 5; // how often a half is
        const unsigned more_messages = 1 + random() % 7;
        const auto number_of = [](wildcard_item *i) {
            return i ? int(static_cast<numbered_wildcard *>(i)->number) : -1;
        };
        for (unsigned step = 0; step < 10 * items.size(); ++step) {
            const std::uint64_t key = key_of(random() % sources, random() % tags);
            const match_pattern pattern{key, random() % 5 < open, random() % 5 < open};
            const unsigned choice = random() % 10;
            if (choice < 8 && !idle.empty()) {
                numbered_wildcard &own = *idle.back();
                const bool sends = random() % 8 < more_messages;
                wildcard_item *const met = sends ? matcher.arrive(key, own) : matcher.post(pattern, own);
                numbered_wildcard *const expected =
                    sends ? simple.arrive(key, own) : simple.post(pattern, own);
                ASSERT_EQ(number_of(met), number_of(expected)) << "round " << round << ", step " << step;
                if (expected)
                    idle.push_back(expected);
                else
                    idle.erase(std::find(idle.begin(), idle.end(), &own));
            } else if (choice < 9) {
                numbered_wildcard &one = items[random() % items.size()];
                const bool in = simple.remove(one);
                ASSERT_EQ(matcher.remove(one), in);
                if (in)
                    idle.push_back(&one);
            } else {
                wildcard_item *seen = nullptr;
                const bool there = matcher.peek(pattern, [&](wildcard_item &i) { seen = &i; });
                ASSERT_EQ(there, seen != nullptr);
                ASSERT_EQ(number_of(seen), number_of(simple.peek(pattern)));
            }
            if (step % 512 == 511) {
                const kind k = random() % 2 ? kind::receive : kind::message;
                const unsigned rest = random() % 3;
                const auto unwanted = [&](wildcard_item &i) {
                    return static_cast<numbered_wildcard &>(i).number % 3 == rest;
                };
                std::vector<numbered_wildcard *> &queue =
                    k == kind::receive ? simple.receives : simple.messages;
                std::vector<numbered_wildcard *> expected, got;
                std::erase_if(queue, [&](numbered_wildcard *i) {
                    const bool goes = unwanted(*i);
                    if (goes)
                        expected.push_back(i);
                    return goes;
                });
                for (match_item *each = matcher.remove_if(k, unwanted); each; each = each->next)
                    got.push_back(static_cast<numbered_wildcard *>(each));
                idle.insert(idle.end(), got.begin(), got.end());
                if (k == kind::receive) {
                    std::sort(expected.begin(), expected.end());
                    std::sort(got.begin(), got.end());
                }
                ASSERT_EQ(got, expected);
            }
            ASSERT_EQ(count_items(matcher, kind::receive), simple.receives.size());
            ASSERT_EQ(count_items(matcher, kind::message), simple.messages.size());
        }
    }
}

// Several posting and sending threads: nothing is matched twice, each match is valid, and a receiver gets one
// sender's messages of one tag in the order in which they were sent.
TEST(wildcards, several_threads) {
    constexpr unsigned threads = 6, tags = 4;
    const unsigned each_does = static_cast<unsigned>(scaled(rounds(100'000, 300'000)) + 1'000);
    struct traced : wildcard_message {
        match_pattern wanted;
        std::uint64_t sent = 0;
        unsigned number = 0;
        bool removed = false;
        std::atomic<unsigned> matched{0};
        std::atomic<traced *> partner{nullptr};
    };
    wildcard_matcher matcher;
    std::vector<std::unique_ptr<traced[]>> items;
    for (unsigned i = 0; i < threads; ++i)
        items.push_back(std::make_unique<traced[]>(each_does));
    std::barrier start(threads);
    std::vector<std::thread> all;
    for (unsigned t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            std::mt19937 random(t);
            const bool sends = t % 2;
            start.arrive_and_wait();
            for (unsigned i = 0; i < each_does; ++i) {
                traced &own = items[t][i];
                own.number = i;
                wildcard_item *met;
                if (sends) {
                    own.sent = key_of(t, random() % tags);
                    met = matcher.arrive(own.sent, own);
                } else {
                    own.wanted = {key_of(random() % threads / 2 * 2 + 1, random() % tags), random() % 2 == 0,
                                  random() % 2 == 0};
                    met = matcher.post(own.wanted, own);
                }
                if (met) {
                    auto &other = static_cast<traced &>(*met);
                    EXPECT_EQ(own.matched.fetch_add(1) + other.matched.fetch_add(1), 0u) << "matched twice";
                    (sends ? other : own).partner = sends ? &own : &other;
                }
                if (!sends && random() % 8 == 0) {
                    traced &earlier = items[t][i - random() % std::min(i + 1, 50u)];
                    if (!earlier.removed && matcher.remove(earlier))
                        earlier.removed = true;
                }
                if (random() % 64 == 0)
                    ::sched_yield();
            }
        });
    for (auto &each : all)
        each.join();
    std::size_t pairs = 0, left = 0;
    for (unsigned t = 0; t < threads; t += 2) {
        std::vector<unsigned> last(threads * tags, 0);
        for (unsigned i = 0; i < each_does; ++i) {
            traced &receive = items[t][i];
            ASSERT_EQ(receive.matched.load() + receive.removed + receive.queued, 1u);
            left += receive.queued;
            traced *const message = receive.partner;
            if (!message)
                continue;
            ++pairs;
            ASSERT_TRUE(fits(receive.wanted, message->sent));
            const bool exact = !receive.wanted.any_source && !receive.wanted.any_tag;
            if (!exact)
                continue; // an open one posted earlier may have been matched later, by another message
            unsigned &before = last[(message->sent >> 32 & 0xff) * tags + (message->sent & 0xff)];
            ASSERT_LE(before, message->number + 1) << "overtaken";
            before = message->number + 1;
        }
    }
    EXPECT_GT(pairs, 0u);
    EXPECT_EQ(count_items(matcher, kind::receive), left);
}

} // namespace
