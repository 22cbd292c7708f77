#include <gtest/gtest.h>

#include "tests/support/home.hpp"

namespace {

using namespace fult::detail;

TEST(layout, everything_is_found_from_a_descriptor) {
    const fult::testing::bare_home home;
    for (const std::uint32_t slot :
         {0u, 1u, 63u, 64u, 511u, max_slots / 2 - 1, max_slots / 2, max_slots - 1}) {
        const task *t = home.task_at(slot);
        EXPECT_EQ(home_of(t), home.hot());
        EXPECT_EQ(slot_of(t), slot);
        EXPECT_EQ(bit_of(slot), std::uint64_t{1} << slot % 64);
    }
}

TEST(layout, the_parts_of_a_home_do_not_overlap) {
    const auto end_of_words = [](const public_words::offsets &at) { return at.words + max_slots / 8; };
    EXPECT_LE(end_of_words(runnable_offsets), pinned_offsets.words);
    EXPECT_LE(end_of_words(pinned_offsets), returned_offsets.words);
    EXPECT_LE(end_of_words(returned_offsets), slot_words_offset);
    EXPECT_LE(slot_words_offset + max_slots / 64 * sizeof(slot_word), ready_bytes_offset);
    EXPECT_LE(ready_bytes_offset + max_slots, tasks_offset);
    EXPECT_LE(tasks_offset + std::uintptr_t{max_slots} * sizeof(task), home_size);
    constexpr std::uintptr_t summary_bytes = max_slots / 64 / words_in_line / 8;
    EXPECT_LE(runnable_offsets.summary + summary_bytes, pinned_offsets.summary);
    EXPECT_LE(pinned_offsets.summary + summary_bytes, returned_offsets.summary);
    EXPECT_LE(returned_offsets.summary + summary_bytes, runnable_offsets.words);
    EXPECT_LE(returned_offsets.top + top_words * 8, runnable_offsets.summary);
}

TEST(layout, untouched_memory_is_a_descriptor_at_rest) {
    const fult::testing::bare_home home;
    const task *t = home.task_at(12345);
    EXPECT_EQ(t->state.load(), busy);
    EXPECT_EQ(t->pending_wakeup.load(), 0u);
    EXPECT_EQ(t->join.load(), join_none);
    EXPECT_EQ(t->context, nullptr);
    EXPECT_EQ(t->extras, nullptr);
    EXPECT_EQ(t->result, result_kind::none);
    EXPECT_FALSE(t->pinned);
}

TEST(layout, spawn_and_join_touch_one_cache_line) {
    EXPECT_EQ(offsetof(task, storage) + inline_storage, std::size_t{cache_line});
    EXPECT_EQ(offsetof(task, state), std::size_t{cache_line});
}

} // namespace
