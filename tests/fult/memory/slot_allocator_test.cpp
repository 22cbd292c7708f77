#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "fult/memory/slot_allocator.hpp"
#include "tests/support/home.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;

// The i-th slot that is in use: some of each word are not (usable_slots).
constexpr auto in_word = static_cast<std::uint32_t>(std::popcount(usable_slots));
std::uint32_t nth(std::uint32_t i) {
    std::uint64_t left = usable_slots;
    for (std::uint32_t n = i % in_word; n > 0; --n)
        left &= left - 1;
    return i / in_word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
}

struct slot_allocator_test : ::testing::Test {
    fult::testing::bare_home home;
    slot_run run;
    slot_allocator slots;
    void give_back_from_elsewhere(std::uint32_t slot) { home.words(returned_offsets).set_slot(slot); }
};

TEST_F(slot_allocator_test, takes_the_lowest_first) {
    slots.open(home.hot(), &run, 0, 4);
    for (std::uint32_t i = 0; i < 4 * in_word; ++i) {
        task *t = slots.take();
        ASSERT_NE(t, nullptr);
        EXPECT_EQ(slot_of(t), nth(i));
        EXPECT_EQ(slots.current_word(), nth(i) / 64);
        EXPECT_EQ(slots.count_taken(), i + 1);
    }
    EXPECT_EQ(slots.take(), nullptr) << "at the limit";
    EXPECT_EQ(slots.take(), nullptr) << "and again";
}

TEST_F(slot_allocator_test, a_range_may_begin_in_the_middle) {
    slots.open(home.hot(), &run, half_words, 1);
    std::set<std::uint32_t> seen;
    while (task *t = slots.take())
        seen.insert(slot_of(t));
    EXPECT_EQ(seen.size(), in_word);
    EXPECT_EQ(*seen.begin(), half_slots + nth(0));
    EXPECT_EQ(slots.count_taken(), in_word);
}

TEST_F(slot_allocator_test, the_last_taken_is_taken_again_first) {
    slots.open(home.hot(), &run, 0, 2);
    for (int i = 0; i < 10; ++i)
        slots.take();
    slots.release(nth(9));
    slots.release(nth(8));
    EXPECT_EQ(slot_of(slots.take()), nth(8));
    EXPECT_EQ(slot_of(slots.take()), nth(9));
}

// The first line of words is used before gaps between tasks are, but no word beyond it.
TEST_F(slot_allocator_test, gaps_are_filled_before_new_lines_are_used) {
    constexpr std::uint32_t line = words_in_line * in_word;
    slots.open(home.hot(), &run, 0, 2 * words_in_line);
    for (int i = 0; i < 130; ++i)
        slots.take();
    slots.release(nth(7));
    slots.release(nth(70));
    for (std::uint32_t i = 130; i < line; ++i)
        EXPECT_EQ(slot_of(slots.take()), nth(i));
    EXPECT_EQ(slot_of(slots.take()), nth(7));
    EXPECT_EQ(slot_of(slots.take()), nth(70));
    EXPECT_EQ(slot_of(slots.take()), nth(line));
}

// A tree that is deeper than a word would otherwise take a gap at a time, each by a call.
TEST_F(slot_allocator_test, empty_words_are_used_before_gaps) {
    slots.open(home.hot(), &run, 0, 2 * words_in_line);
    for (std::uint32_t i = 0; i < 12 * in_word; ++i)
        slots.take();
    slots.release(nth(7));
    for (std::uint32_t i = 5 * in_word; i < 6 * in_word; ++i)
        slots.release(nth(i));
    slots.release(nth(8 * in_word + 1));
    for (std::uint32_t i = 5 * in_word; i < 6 * in_word; ++i)
        EXPECT_EQ(slot_of(slots.take()), nth(i));
    EXPECT_EQ(slot_of(slots.take()), nth(7));
    EXPECT_EQ(slot_of(slots.take()), nth(8 * in_word + 1));
    EXPECT_EQ(slot_of(slots.take()), nth(12 * in_word));
}

// As a group that waits for its tasks: all but the first few of a word are returned by the fast path.
TEST_F(slot_allocator_test, the_run_follows_slots_that_are_given_back_downwards) {
    slots.open(home.hot(), &run, 0, 8);
    for (std::uint32_t i = 0; i < in_word + 3; ++i)
        slots.take();
    for (std::uint32_t i = in_word + 3; i-- > in_word;)
        EXPECT_FALSE(slots.release(nth(i)));
    int moved = 0, slow = 0;
    for (std::uint32_t i = in_word; i-- > 0;) {
        slow += run.next != home.task_at(nth(i)) + 1 ? 1 : 0;
        moved += slots.release(nth(i)) ? 1 : 0;
    }
    EXPECT_EQ(moved, 1);
    EXPECT_EQ(slow, 8);
    EXPECT_EQ(slots.current_word(), 0U);
    EXPECT_EQ(slots.count_taken(), 0U);
    for (std::uint32_t i = 0; i < 2 * in_word; ++i)
        EXPECT_EQ(slot_of(slots.take()), nth(i)) << "the word that was left has all of its slots";
}

TEST_F(slot_allocator_test, the_run_stays_where_slots_of_it_are_taken) {
    slots.open(home.hot(), &run, 0, 8);
    for (std::uint32_t i = 0; i < in_word + 1; ++i)
        slots.take();
    for (std::uint32_t i = in_word; i-- > 0;)
        EXPECT_FALSE(slots.release(nth(i)));
    EXPECT_EQ(slot_of(slots.take()), nth(in_word + 1));
}

TEST_F(slot_allocator_test, slots_that_others_freed_come_back) {
    slots.open(home.hot(), &run, half_words, 32); // beyond the first line, so with hints
    for (std::uint32_t i = 0; i < 32 * in_word; ++i)
        ASSERT_NE(slots.take(), nullptr);
    ASSERT_EQ(slots.take(), nullptr);
    const std::set<std::uint32_t> freed{half_slots + 1, half_slots + 700, half_slots + 701,
                                        half_slots + 2047};
    for (const std::uint32_t slot : freed)
        home.words(returned_offsets).set_slot(slot);
    EXPECT_EQ(slots.count_taken(), 32u * in_word - 4);
    std::set<std::uint32_t> again;
    while (task *t = slots.take())
        again.insert(slot_of(t));
    EXPECT_EQ(again, freed);
}

TEST_F(slot_allocator_test, what_belongs_to_the_other_half_stays_there) {
    slots.open(home.hot(), &run, 0, 1);
    while (slots.take()) {
    }
    give_back_from_elsewhere(half_slots + 3);
    EXPECT_EQ(slots.take(), nullptr);
    EXPECT_TRUE(home.words(returned_offsets).contains(half_slots + 3));
}

TEST_F(slot_allocator_test, no_slot_is_given_twice) {
    slots.open(home.hot(), &run, 0, 16);
    auto random = fult::testing::seeded(7);
    std::vector<std::uint32_t> held;
    std::set<std::uint32_t> unique;
    for (std::size_t round = 0; round < fult::testing::scaled(300000); ++round) {
        if (random() % 100 < 52) {
            task *t = slots.take();
            if (!t) {
                ASSERT_EQ(held.size(), 16u * in_word);
                continue;
            }
            ASSERT_TRUE(unique.insert(slot_of(t)).second) << "slot " << slot_of(t);
            held.push_back(slot_of(t));
        } else if (!held.empty()) {
            // mostly in order, as tasks are joined; now and then any of them, or by another thread
            const std::size_t at = random() % 4 ? held.size() - 1 : random() % held.size();
            const std::uint32_t slot = held[at];
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
            unique.erase(slot);
            random() % 3 ? void(slots.release(slot)) : give_back_from_elsewhere(slot);
        }
        ASSERT_EQ(slots.count_taken(), held.size());
    }
}

// Bursts that are given back upwards, downwards or in any order, by the owner and by others: nothing is lost,
// nothing given twice, and the run has followed often.
TEST_F(slot_allocator_test, bursts_in_any_order_lose_nothing) {
    slots.open(home.hot(), &run, 0, 16);
    auto random = fult::testing::seeded(11);
    std::vector<std::uint32_t> held; // in order
    std::set<std::uint32_t> unique;
    std::size_t followed = 0;
    const std::size_t rounds = fult::testing::scaled(3000);
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t n = random() % 200; n > 0; --n)
            if (task *t = slots.take()) {
                ASSERT_TRUE(unique.insert(slot_of(t)).second) << "slot " << slot_of(t) << " was given twice";
                held.push_back(slot_of(t));
            }
        const auto how = random() % 4;
        how == 0 ? std::shuffle(held.begin(), held.end(), random) : std::sort(held.begin(), held.end());
        if (how == 1) // the first taken is given back first
            std::reverse(held.begin(), held.end());
        for (std::size_t n = random() % 3 ? random() % 200 : held.size(); n > 0 && !held.empty(); --n) {
            const std::uint32_t slot = held.back();
            held.pop_back();
            unique.erase(slot);
            if (random() % 50 == 0)
                give_back_from_elsewhere(slot);
            else
                followed += slots.release(slot) ? 1 : 0;
            ASSERT_EQ(slots.count_taken(), held.size());
        }
    }
    EXPECT_GE(followed, rounds / 40);
    std::size_t left = 16 * in_word - held.size();
    while (task *t = slots.take()) {
        ASSERT_TRUE(unique.insert(slot_of(t)).second);
        --left;
    }
    EXPECT_EQ(left, 0U) << "slots were lost";
}

// The slots above the run's end in a word that the run has left are in use.
TEST_F(slot_allocator_test, the_run_takes_along_only_what_is_its_own) {
    constexpr std::uint32_t words = words_in_line, last = (words - 1) * in_word; // the last word in use
    slots.open(home.hot(), &run, 0, words + 2);
    for (std::uint32_t i = 0; i < words * in_word; ++i)
        slots.take();
    for (std::uint32_t i = last; i < last + in_word - 1; ++i) // all of the word but its last one
        slots.release(nth(i));
    EXPECT_EQ(slot_of(slots.take()), nth(last)); // the run is there now, and ends before that one
    slots.release(nth(last));
    int moved = 0;
    for (std::uint32_t i = last; i-- > 0;)
        moved += slots.release(nth(i)) ? 1 : 0;
    EXPECT_EQ(moved, static_cast<int>(words - 1));
    for (std::uint32_t i = 0; i < (words + 1) * in_word - 1; ++i)
        EXPECT_NE(slot_of(slots.take()), nth(last + in_word - 1)) << "it is in use";
}

// Two task trees that take turns, each in a word of its own.
TEST_F(slot_allocator_test, a_run_that_begins_apart_has_a_word_of_its_own) {
    slots.open(home.hot(), &run, 0, 16);
    for (int i = 0; i < 10; ++i)
        slots.take();
    const task *const first_tree = slots.next();
    slots.begin_apart();
    EXPECT_EQ(slots.current_word(), 1u);
    for (std::uint32_t i = 0; i < 5; ++i)
        EXPECT_EQ(slot_of(slots.take()), nth(in_word + i));
    slots.resume(first_tree, false);
    EXPECT_EQ(slot_of(slots.take()), nth(10)) << "the first tree continues where it was";
    EXPECT_EQ(slots.count_taken(), 16u);
    slots.begin_apart();
    EXPECT_EQ(slots.current_word(), 2u) << "the second word has taken slots";
}

TEST_F(slot_allocator_test, an_empty_word_is_used_again_apart) {
    slots.open(home.hot(), &run, 0, 8);
    for (std::uint32_t i = 0; i < 3 * in_word; ++i)
        slots.take();
    for (std::uint32_t i = in_word; i < 2 * in_word; ++i)
        give_back_from_elsewhere(nth(i));
    slots.begin_apart();
    EXPECT_EQ(slots.current_word(), 1u) << "its slots came back from other workers";
    EXPECT_EQ(slots.count_taken(), 2 * in_word);
}

// Its tree would otherwise take slots above those of another tree.
TEST_F(slot_allocator_test, a_run_whose_slot_is_taken_goes_on_in_an_empty_word) {
    slots.open(home.hot(), &run, 0, 8);
    for (int i = 0; i < 3; ++i)
        slots.take();
    const task *const before = slots.next();
    EXPECT_EQ(slot_of(slots.take()), nth(3));
    slots.resume(before, false);
    EXPECT_EQ(slot_of(slots.take()), nth(in_word));
    slots.resume(nullptr, false); // the tree was left on another worker
    EXPECT_EQ(slot_of(slots.take()), nth(2 * in_word));
    slots.release(nth(2 * in_word));
    const task *const end_of_word = tasks_of(home.hot()) + 64;
    slots.resume(end_of_word, false);
    EXPECT_EQ(slot_of(slots.take()), nth(2 * in_word)) << "one past the end of a word is no slot";
}

// Fifty trees, deeper than a word, that take turns at random for long. Most slots are taken and freed without
// a call; if trees took slots between those of each other, most would be taken by one.
TEST_F(slot_allocator_test, trees_that_take_turns_stay_in_stack_order) {
    struct tree {
        std::vector<task *> living;
        const task *next = nullptr; // where it was left
    };
    std::vector<tree> trees(50);
    slots.open(home.hot(), &run, 0, 4096);
    auto random = fult::testing::seeded(13);
    long all = 0, calls = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
        tree &now = trees[random() % trees.size()];
        if (now.next)
            slots.resume(now.next, true);
        else
            slots.begin_apart();
        for (int step = 0; step < 200; ++step, ++all)
            if (now.living.empty() || (now.living.size() < 100 && random() % 2 == 0)) {
                calls += run.next == run.end ? 1 : 0;
                now.living.push_back(slots.take());
                ASSERT_NE(now.living.back(), nullptr);
            } else {
                calls += now.living.back() + 1 != run.next ? 1 : 0;
                slots.release(slot_of(now.living.back()));
                now.living.pop_back();
            }
        now.next = slots.next();
    }
    EXPECT_LT(20 * calls, all) << calls << " calls for " << all << " slots";
    EXPECT_LT(slots.current_word(), 4 * trees.size());
}

// Otherwise trees that begin beside many small remainders would use up the table.
TEST_F(slot_allocator_test, new_words_apart_are_at_most_a_quarter) {
    constexpr std::uint32_t words = 256;
    slots.open(home.hot(), &run, 0, words);
    constexpr std::uint32_t taken = (words / 4 - 1) * in_word;
    for (std::uint32_t i = 0; i < taken; ++i)
        slots.take();
    for (std::uint32_t i = 5; i < taken; i += in_word)
        slots.release(nth(i));
    slots.begin_apart();
    EXPECT_EQ(slot_of(slots.take()), nth(taken));
    slots.begin_apart();
    EXPECT_EQ(slot_of(slots.take()), nth(5));
}

} // namespace
