#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <sys/mman.h>
#include <vector>

#include "fult/memory/stack_pool.hpp"
#include "fult/memory/virtual_memory.hpp"
#include "tests/support/own_memory.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;
using fult::guard_mode;

constexpr std::size_t size = 64 * 1024;

std::size_t length(const stack *chain) {
    std::size_t n = 0;
    for (; chain; chain = chain->next)
        ++n;
    return n;
}

std::size_t resident_pages(const stack *s) {
    const std::size_t pages = s->size / page_size();
    std::vector<unsigned char> in_core(pages);
    if (::mincore(s->base, s->size, in_core.data()) != 0)
        return ~std::size_t{0};
    std::size_t n = 0;
    for (const unsigned char c : in_core)
        n += c & 1u;
    return n;
}

class of_guard : public ::testing::TestWithParam<guard_mode> {
  protected:
    stack_pool pool{{size, 4, GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(stack_pool, of_guard,
                         ::testing::Values(guard_mode::automatic, guard_mode::madvise, guard_mode::mprotect,
                                           guard_mode::none));

TEST_P(of_guard, stacks_are_distinct_and_usable) {
    stack *chain = pool.acquire(100);
    ASSERT_EQ(length(chain), 100u);
    std::set<const std::byte *> bases;
    for (const stack *s = chain; s; s = s->next) {
        EXPECT_TRUE(bases.insert(s->base).second);
        EXPECT_EQ(s->size, size + pool.guard_size());
        EXPECT_TRUE(pool.is_ordinary(*s));
        EXPECT_EQ(s->idle, nullptr);
        EXPECT_FALSE(s->pinned);
        EXPECT_GE(s->limit, reinterpret_cast<std::uintptr_t>(s->low()));
        EXPECT_LT(s->limit, reinterpret_cast<std::uintptr_t>(s->high()));
        std::memset(s->low(), 1, 256);
        std::memset(s->low() + size / 2, 1, 256);
    }
    EXPECT_GE(pool.mapped(), 100u);
    pool.release(chain);
}

// Where memory is locked, the kernel fills what is accessible.
TEST_P(of_guard, what_is_not_used_is_not_accessible) {
    stack *chain = pool.acquire(1);
    ASSERT_NE(chain, nullptr);
    const std::size_t each = size + pool.guard_size();
    EXPECT_LE(fult::testing::writable_bytes(chain->base, 60 * each), each);
    for (std::size_t all = 1; all < 300; ++all) {
        stack *const one = pool.acquire_some();
        ASSERT_EQ(length(one), std::clamp<std::size_t>(all / 8, 1, 8));
        all += length(one) - 1;
        stack *last = one;
        while (last->next)
            last = last->next;
        last->next = chain;
        chain = one;
        EXPECT_LE(pool.mapped(), all + 1 + (all + 1) / 8) << "an eighth more than are used";
    }
    pool.release(chain);
}

TEST_P(of_guard, the_guard_is_where_it_says) {
    stack *s = pool.acquire(1);
    ASSERT_NE(s, nullptr);
    if (GetParam() == guard_mode::none) {
        EXPECT_EQ(s->guard, 0u);
    } else {
        EXPECT_EQ(s->guard, pool.guard_size());
        EXPECT_GE(s->guard, std::size_t{64} * 1024);
        EXPECT_EQ(s->guard / page_size() % 2, 0u) << "it does not change the colors of stacks";
        EXPECT_TRUE(s->guards(reinterpret_cast<std::uintptr_t>(s->base)));
        EXPECT_FALSE(s->guards(reinterpret_cast<std::uintptr_t>(s->low())));
        EXPECT_DEATH(*const_cast<volatile std::byte *>(s->base + 8) = std::byte{1}, "");
        EXPECT_DEATH(*const_cast<volatile std::byte *>(s->low() - 1) = std::byte{1}, "");
    }
    pool.release(s);
}

TEST_P(of_guard, stacks_of_other_sizes) {
    stack *s = pool.acquire_sized(1u << 20);
    ASSERT_NE(s, nullptr);
    EXPECT_GE(static_cast<std::size_t>(s->high() - s->low()), std::size_t{1} << 20);
    std::memset(s->low(), 7, 1u << 20 >> 1);
    pool.release_sized(s);
}

TEST(stack_pool, stacks_are_used_again_newest_first) {
    stack_pool pool({size, 16, guard_mode::automatic});
    stack *chain = pool.acquire(3);
    const stack *first = chain;
    chain->idle = &pool; // a context that waits for the next task stays with its stack
    pool.release(chain);
    stack *again = pool.acquire(3);
    EXPECT_EQ(length(again), 3u);
    bool kept = false;
    for (const stack *s = again; s; s = s->next)
        kept = kept || (s == first && s->idle == &pool);
    EXPECT_TRUE(kept);
    pool.release(again);
}

TEST(stack_pool, beyond_the_cap_memory_goes_back) {
    if (fult::testing::under_valgrind() || fult::testing::emulated())
        GTEST_SKIP() << "the tool keeps its own account of pages";
    stack_pool pool({size, 2, guard_mode::automatic});
    stack *chain = pool.acquire(10);
    std::vector<stack *> all;
    for (stack *s = chain; s; s = s->next) {
        std::memset(s->low(), 1, 8 * page_size());
        all.push_back(s);
    }
    for (const stack *s : all)
        ASSERT_GE(resident_pages(s), 8u);
    std::vector<std::byte *> bases;
    for (const stack *s : all)
        bases.push_back(s->base);
    pool.release(chain);
    std::size_t resident = 0;
    for (std::byte *base : bases) {
        stack probe;
        probe.base = base;
        probe.size = size + pool.guard_size();
        resident += resident_pages(&probe) >= 8 ? 1 : 0;
    }
    EXPECT_EQ(resident, 2u);
    chain = pool.acquire(10); // and can be used again, with its guard
    EXPECT_EQ(length(chain), 10u);
    for (const stack *s = chain; s; s = s->next)
        EXPECT_EQ(s->guard, pool.guard_size());
    pool.release(chain);
}

// Waves of many suspended tasks: the stacks of one wave serve the next.
TEST(stack_pool, beyond_the_cap_memory_stays_for_the_next_wave) {
    stack_pool pool({size, 4, guard_mode::automatic, 3'600'000});
    pool.release(pool.acquire(100));
    EXPECT_EQ(pool.resident_idle(), 100u);
    pool.release(pool.acquire(200)); // no more than 32 times the cap
    EXPECT_EQ(pool.resident_idle(), 128u);
    stack_pool none({size, 0, guard_mode::automatic, 3'600'000});
    none.release(none.acquire(10));
    EXPECT_EQ(none.resident_idle(), 0u);
}

TEST(stack_pool, beyond_the_cap_memory_goes_back_when_it_was_idle_for_long) {
    const unsigned many = fult::testing::sanitized ? 300 : 1000;
    stack_pool pool({size, 200, guard_mode::automatic, 5});
    pool.release(pool.acquire(many));
    ASSERT_EQ(pool.resident_idle(), many);
    fult::testing::spin_until([&] {
        pool.release(pool.acquire(1)); // a program that continues with few stacks
        return pool.resident_idle() < 200;
    });
    pool.release(pool.acquire(many));
}

TEST(stack_pool, guards_by_mprotect_do_not_run_out_by_reuse) {
    if (fult::testing::sanitized || fult::testing::under_valgrind())
        GTEST_SKIP() << "too many system calls";
    stack_pool pool({size, 0, guard_mode::mprotect});
    for (int i = 0; i < 20000; ++i) { // more than a quarter of the kernel's usual limit
        stack *s = pool.acquire_sized(2 * size);
        ASSERT_NE(s, nullptr);
        ASSERT_EQ(s->guard, pool.guard_size()) << "after " << i;
        pool.release_sized(s);
        s = pool.acquire(1);
        ASSERT_NE(s, nullptr);
        ASSERT_EQ(s->guard, pool.guard_size()) << "after " << i;
        pool.release(s);
    }
}

TEST(stack_pool, an_impossible_size_is_refused) {
    stack_pool pool({size, 0, guard_mode::automatic});
    EXPECT_EQ(pool.acquire_sized(std::size_t{1} << 60), nullptr);
    stack_pool huge({std::size_t{1} << 60, 0, guard_mode::automatic});
    EXPECT_EQ(huge.acquire(1), nullptr);
}

TEST(stack, a_quarter_is_every_tasks_own) { EXPECT_EQ(inline_limit(1000, 5000), 2000u); }

TEST(stack_pool, stacks_of_other_sizes_are_kept_for_the_next_task) {
    stack_pool pool{{size, 4, guard_mode::automatic}};
    stack *one = pool.acquire_sized(3 << 20);
    ASSERT_NE(one, nullptr);
    EXPECT_GE(one->size - one->guard, std::size_t{3} << 20);
    std::memset(one->low(), 1, one->size - one->guard - 4096);
    pool.release_sized(one);
    if (!fult::testing::sanitized && !fult::testing::under_valgrind() && !fult::testing::emulated()) {
        EXPECT_LE(resident_pages(one), (256 * 1024) / page_size() + 1)
            << "what a task has used deep down goes back";
    }
    stack *other = pool.acquire_sized(9 << 20);
    ASSERT_NE(other, nullptr);
    EXPECT_NE(other, one);
    EXPECT_EQ(pool.acquire_sized(3 << 20), one);
    pool.release_sized(other);
    const stack record = *one;
    pool.release_sized(one);
    pool.trim();
    EXPECT_EQ(resident_pages(&record), ~std::size_t{0}) << "not mapped any more";
}

TEST(stack_pool, few_stacks_of_other_sizes_are_kept) {
    stack_pool pool{{size, 4, guard_mode::automatic}};
    std::vector<stack *> all;
    for (int i = 0; i < 40; ++i)
        all.push_back(pool.acquire_sized(1 << 20));
    const std::vector<stack *> before = all;
    for (stack *each : all)
        pool.release_sized(each);
    for (std::size_t i = 40; i-- > 24;) // the last 16, the newest first
        EXPECT_EQ(pool.acquire_sized(1 << 20), before[i]);
    for (std::size_t i = 24; i < 40; ++i)
        pool.release_sized(before[i]);
}

} // namespace
