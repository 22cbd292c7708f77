#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <system_error>
#include <utility>

#include "fult/memory/home_memory.hpp"
#include "fult/memory/slot_allocator.hpp"
#include "fult/memory/virtual_memory.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/own_memory.hpp"
#include "tests/support/scale.hpp"

namespace {

using namespace fult::detail;
using fult::testing::limit_address_space_to;
using fult::testing::mappings_in;
using fult::testing::run_in_child;
using fult::testing::writable_bytes;

using fult::testing::mib;

constexpr std::size_t worker_bytes = 100'000;

home_memory map_one(std::size_t max_tasks = std::size_t{half_words} * slots_in_word) {
    return map_home(worker_bytes, max_tasks, 40, 41);
}
worker_hot *hot_part(const home_memory &home) { return reinterpret_cast<worker_hot *>(home.begin); }

// Writes what a task in each of the words would.
void use_words(const home_memory &home, std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t w = first; w < first + count; ++w) {
        slot_words(hot_part(home))[w].free = 1;
        for (const auto &at : {runnable_offsets, pinned_offsets, returned_offsets}) {
            const public_words words(home.begin, at);
            words.set(w, 2);
            EXPECT_EQ(words.take(w, 2), 2u);
        }
        for (const std::uint32_t slot : {w * 64, w * 64 + 63}) {
            ready_bytes(hot_part(home))[slot] = 1;
            std::memset(static_cast<void *>(tasks_of(hot_part(home)) + slot), 0, sizeof(task));
        }
    }
}

// In the child of a fork: a failure is an exit status.
int passes(bool holds) { return holds ? 0 : 1; }

TEST(home_memory, what_is_not_used_is_not_accessible) {
    home_memory home = map_one();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(home.begin) % home_size, 0u);
    EXPECT_EQ(home.lower.usable(), words_in_line);
    EXPECT_EQ(home.upper.usable(), 0u);
    std::memset(home.begin, 1, worker_bytes);
    use_words(home, 0, words_in_line);
    EXPECT_LT(writable_bytes(home.begin, home_size), mib);
    unmap_home(home);
}

TEST(home_memory, both_halves_grow_to_the_limit) {
    constexpr std::size_t max_tasks = 5000;
    constexpr auto words = static_cast<std::uint32_t>(words_for(max_tasks));
    home_memory home = map_one(max_tasks);
    for (half_memory *half : {&home.lower, &home.upper})
        while (half->usable() < words) {
            const std::uint32_t before = half->usable(), first = half == &home.upper ? half_words : 0;
            ASSERT_TRUE(half->grow());
            EXPECT_LE(half->usable(), before == 0 ? words_in_line : 2 * before)
                << "in use, and as much again";
            use_words(home, first, half->usable());
        }
    EXPECT_LE(mappings_in(home.begin, home_size), mappings_of_home);
    EXPECT_FALSE(home.lower.grow()) << "it is at its limit";
    EXPECT_LT(home.lower.usable(), words + words_in_line);
    EXPECT_LT(writable_bytes(home.begin, home_size), 3 * mib);
    unmap_home(home);
}

// To the last page of each array, the last slots included. Only few of it is touched.
TEST(home_memory, a_home_may_be_used_whole) {
    if (fult::testing::under_valgrind() || fult::testing::sanitized)
        GTEST_SKIP() << "the tool keeps books on gigabytes";
    home_memory home = map_one();
    for (half_memory *half : {&home.lower, &home.upper})
        while (half->usable() < half_words)
            ASSERT_TRUE(half->grow());
    use_words(home, 0, 2);
    use_words(home, half_words - 2, 4);
    use_words(home, 2 * half_words - 2, 2);
    unmap_home(home);
}

// The addresses in between are not reserved there.
TEST(home_memory, where_addresses_are_limited_a_home_is_mapped_in_parts) {
    if (fult::testing::sanitized || fult::testing::under_valgrind() || fult::testing::emulated())
        GTEST_SKIP() << "the tool needs the addresses";
    const auto child = run_in_child([] {
        if (!limit_address_space_to(16 * mib))
            ::_exit(77);
        home_memory one = map_one(), two = map_one();
        int failed = passes(one.begin != two.begin && !one.is_reserved && !two.is_reserved);
        while (one.upper.usable() < 64)
            failed += passes(one.upper.grow());
        use_words(one, 0, one.lower.usable());
        use_words(one, half_words, one.upper.usable());
        use_words(two, 0, two.lower.usable());
        while (one.lower.grow()) // until the limit
            use_words(one, 0, one.lower.usable());
        failed += passes(errno == ENOMEM && one.lower.usable() < 4096);
        failed += passes(!two.lower.grow() || !two.lower.grow() || !two.lower.grow());
        unmap_home(one);
        failed += passes(writable_bytes(two.begin, home_size) > 64 * sizeof(task));
        home_memory three = map_one();
        failed += passes(three.begin != two.begin);
        for (int i = 0; i < 10; ++i)
            failed += passes(three.lower.grow());
        unmap_home(two);
        unmap_home(three);
        ::_exit(failed);
    });
    ASSERT_TRUE(child);
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == 77)
        GTEST_SKIP() << "the address space cannot be limited here";
    EXPECT_TRUE(child->was_silent()) << child->status << child->said;
}

// What others have mapped where a home would grow stays theirs, and is theirs when the home is unmapped.
TEST(home_memory, growth_ends_before_the_memory_of_others) {
    if (fult::testing::sanitized || fult::testing::under_valgrind() || fult::testing::emulated())
        GTEST_SKIP() << "the tool needs the addresses";
    const auto child = run_in_child([] {
        if (!limit_address_space_to(256 * mib))
            ::_exit(77);
        home_memory home = map_one();
        std::byte *const next = reinterpret_cast<std::byte *>(tasks_of(hot_part(home)) + 100 * 64);
        int failed = passes(map_pages_at(next, page_size()));
        std::memset(next, 5, page_size());
        while (home.lower.usable() < 100 && home.lower.grow())
            ;
        failed += passes(home.lower.usable() == 96); // whole lines before it
        failed += passes(!home.lower.grow());
        use_words(home, 0, home.lower.usable());
        failed += passes(writable_bytes(tasks_of(hot_part(home)), home_size / 4) ==
                         96 * 64 * sizeof(task) + page_size());
        failed += passes(
            map_pages_at(home.begin + ready_bytes_offset / 4096 * 4096 + 4 * page_size(), page_size()));
        unmap_home(home);
        failed += passes(next[0] == std::byte{5} && next[page_size() - 1] == std::byte{5});
        ::_exit(failed);
    });
    ASSERT_TRUE(child);
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == 77)
        GTEST_SKIP() << "the address space cannot be limited here";
    EXPECT_TRUE(child->was_silent()) << child->status << child->said;
}

TEST(home_memory, without_addresses_the_error_names_the_remedy) {
    if (fult::testing::sanitized || fult::testing::under_valgrind() || fult::testing::emulated())
        GTEST_SKIP() << "the tool needs the addresses";
    const auto child = run_in_child([] {
        if (!limit_address_space_to(64 * 1024))
            ::_exit(77);
        try {
            map_one();
        } catch (const std::system_error &error) {
            ::_exit(std::strstr(error.what(), "`ulimit -v`") ? 0 : 1);
        }
        ::_exit(2);
    });
    ASSERT_TRUE(child);
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == 77)
        GTEST_SKIP() << "the address space cannot be limited here";
    EXPECT_TRUE(child->was_silent()) << child->status << child->said;
}

TEST(home_memory, an_allocator_grows_with_its_slots) {
    constexpr std::size_t max_tasks = 4000;
    home_memory home = map_one(max_tasks);
    slot_run run;
    slot_allocator slots;
    slots.open(hot_part(home), &run, half_words, static_cast<std::uint32_t>(words_for(max_tasks)),
               last_slots_for(max_tasks), &home.upper);
    EXPECT_EQ(home.upper.usable(), 0u) << "nothing is used yet";
    EXPECT_EQ(slots.count_taken(), 0u);
    for (std::size_t i = 0; i < max_tasks; ++i) {
        task *const t = slots.take();
        ASSERT_NE(t, nullptr) << i;
        t->result = result_kind::none;
        ready_bytes(hot_part(home))[slot_of(t)] = 0;
        public_words(home.begin, returned_offsets).contains(slot_of(t));
    }
    EXPECT_EQ(slots.take(), nullptr);
    EXPECT_EQ(slots.slots_if_short(), 0u) << "the limit is the program's";
    EXPECT_EQ(slots.count_taken(), max_tasks);
    unmap_home(home);
}

} // namespace
