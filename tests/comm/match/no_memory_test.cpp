// Matching continues without memory for larger tables.
#include <gtest/gtest.h>
#include <new>
#include <vector>

#include "comm/match/match_table.hpp"
#include "comm/match/wildcards.hpp"

// gcc's thread sanitizer maps memory before it can run any function of this executable.
#if !defined(__SANITIZE_THREAD__)
#include "tests/support/failing.hpp"

namespace {

using namespace fult::comm::detail;
using fult::testing::mmap_plan;

constexpr unsigned n = 1000;

struct match_without_memory : ::testing::Test {
    void SetUp() override {
        if (!fult::testing::can_fail)
            GTEST_SKIP() << "the sanitizer owns mmap";
    }
    void TearDown() override { mmap_plan.disarm(); }
};

TEST_F(match_without_memory, the_table_chains) {
    match_table table(8);
    std::vector<match_item> receives(n), messages(n), more(4 * n);
    mmap_plan.arm(0);
    for (unsigned i = 0; i < n; ++i)
        ASSERT_EQ(table.access(i * 3, receives[i], match_kind::receive), nullptr);
    mmap_plan.disarm();
    EXPECT_GE(mmap_plan.failed, 1);
    EXPECT_LE(mmap_plan.failed, 20) << "asks for memory again and again";
    EXPECT_EQ(table.buckets(), 8u);
    for (unsigned i = 0; i < n; ++i)
        ASSERT_EQ(table.access(i * 3, messages[i], match_kind::message), &receives[i]);
    for (unsigned i = 0; i < 4 * n; ++i)
        ASSERT_EQ(table.access(i * 3, more[i], match_kind::receive), nullptr);
    EXPECT_GT(table.buckets(), 8u) << "has not tried again";
}

TEST_F(match_without_memory, wildcards_chain) {
    wildcard_matcher matcher;
    std::vector<wildcard_message> receives(n), messages(n), more(4 * n);
    mmap_plan.arm(0);
    for (unsigned i = 0; i < n; ++i)
        ASSERT_EQ(matcher.arrive(i * 3, messages[i]), nullptr);
    mmap_plan.disarm();
    EXPECT_GE(mmap_plan.failed, 1);
    EXPECT_LE(mmap_plan.failed, 40) << "asks for memory again and again";
    for (unsigned i = 0; i < n; ++i)
        ASSERT_EQ(matcher.post({i * 3, true, false}, receives[i]), &messages[i]);
    for (unsigned i = 0; i < 4 * n; ++i)
        ASSERT_EQ(matcher.post({i * 3, false, false}, more[i]), nullptr);
    for (unsigned i = 4 * n; i-- > 0;)
        ASSERT_TRUE(matcher.remove(more[i]));
}

TEST_F(match_without_memory, none_is_made_without) {
    mmap_plan.arm(0);
    EXPECT_THROW(match_table(), std::bad_alloc);
    EXPECT_THROW(wildcard_matcher(), std::bad_alloc);
}

} // namespace
#else
TEST(match_without_memory, all) { GTEST_SKIP() << "the thread sanitizer owns mmap"; }
#endif
