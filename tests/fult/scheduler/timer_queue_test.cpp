#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "fult/scheduler/timer_queue.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::detail::timer_entry;
using fult::detail::timer_queue;

constexpr std::int64_t microsecond = 1000, millisecond = 1000 * microsecond, second = 1000 * millisecond;

struct timer_queue_test : ::testing::Test {
    timer_entry *set(std::int64_t when) {
        entries.push_back(std::make_unique<timer_entry>());
        entries.back()->deadline = when;
        queue.insert(*entries.back());
        return entries.back().get();
    }
    std::vector<std::int64_t> pop_all(std::int64_t now) {
        std::vector<std::int64_t> popped;
        while (timer_entry *e = queue.pop(now))
            popped.push_back(e->deadline);
        return popped;
    }
    timer_queue queue;
    std::vector<std::unique_ptr<timer_entry>> entries;
};

TEST_F(timer_queue_test, an_empty_one_has_nothing) {
    EXPECT_EQ(queue.earliest(), timer_queue::never);
    EXPECT_EQ(queue.pop(timer_queue::never - 1), nullptr);
}

TEST_F(timer_queue_test, a_deadline_comes_at_its_nanosecond) {
    for (const std::int64_t when : {std::int64_t{1}, microsecond, 17 * millisecond + 3, 5 * second + 1,
                                    std::int64_t{400} * 24 * 3600 * second}) {
        timer_entry *e = set(when);
        EXPECT_EQ(queue.earliest(), when);
        EXPECT_EQ(queue.pop(when - 1), nullptr);
        EXPECT_EQ(queue.earliest(), when);
        EXPECT_EQ(queue.pop(when), e);
        EXPECT_EQ(queue.earliest(), timer_queue::never);
    }
}

TEST_F(timer_queue_test, the_end_of_time_never_comes) {
    timer_entry *e = set(timer_queue::never);
    EXPECT_EQ(queue.earliest(), timer_queue::never);
    EXPECT_EQ(queue.pop(timer_queue::never - 1), nullptr);
    queue.remove(*e);
}

TEST_F(timer_queue_test, overdue_and_negative_ones_come_at_once) {
    set(second);
    EXPECT_EQ(pop_all(2 * second), std::vector<std::int64_t>{second});
    set(-5);
    set(second);
    EXPECT_EQ(queue.earliest(), -5);
    auto popped = pop_all(2 * second);
    std::sort(popped.begin(), popped.end()); // overdue ones come in any order
    EXPECT_EQ(popped, (std::vector<std::int64_t>{-5, second}));
}

TEST_F(timer_queue_test, equal_ones_all_come) {
    for (int i = 0; i < 100; ++i)
        set(7 * millisecond);
    EXPECT_TRUE(pop_all(7 * millisecond - 1).empty());
    EXPECT_EQ(pop_all(7 * millisecond).size(), 100U);
}

// Against a sorted vector: time advances in random steps, deadlines of all sizes are set and some cancelled.
TEST_F(timer_queue_test, as_a_sorted_list) {
    auto random = fult::testing::seeded(20261121);
    std::vector<timer_entry *> there;
    std::int64_t now = 12'345'678'901;
    const auto span = [&] { return static_cast<std::int64_t>(random() >> (20 + random() % 43)); };
    for (std::size_t round = 0; round < fult::testing::scaled(20000); ++round) {
        for (auto more = random() % 4; more != 0; --more) {
            const std::int64_t when = now + span() - (random() % 8 == 0 ? millisecond : 0);
            if (queue.is_far(when))
                queue.advance(now);
            there.push_back(set(when));
        }
        if (!there.empty() && random() % 3 == 0) {
            const std::size_t victim = random() % there.size();
            queue.remove(*there[victim]);
            there.erase(there.begin() + static_cast<std::ptrdiff_t>(victim));
        }
        now += span() >> 2;
        std::vector<std::int64_t> due;
        std::erase_if(there, [&](timer_entry *e) {
            if (e->deadline <= now)
                due.push_back(e->deadline);
            return e->deadline <= now;
        });
        std::sort(due.begin(), due.end());
        const auto first = std::min_element(there.begin(), there.end(),
                                            [](auto *a, auto *b) { return a->deadline < b->deadline; });
        auto popped = pop_all(now);
        std::sort(popped.begin(), popped.end());
        ASSERT_EQ(popped, due);
        ASSERT_LE(queue.earliest(), first == there.end() ? timer_queue::never : (*first)->deadline);
        ASSERT_GT(queue.earliest(), now);
    }
}

// Polled at each deadline, as by a worker that sleeps until then, they fire in order.
TEST_F(timer_queue_test, in_order_where_nothing_is_late) {
    auto random = fult::testing::seeded(7);
    std::vector<std::int64_t> deadlines;
    for (std::size_t i = 0; i < fult::testing::scaled(20000); ++i) {
        deadlines.push_back(static_cast<std::int64_t>(random() % (2 * second)));
        set(deadlines.back());
    }
    std::sort(deadlines.begin(), deadlines.end());
    std::vector<std::int64_t> came;
    while (queue.earliest() != timer_queue::never) {
        const std::int64_t now = queue.earliest();
        const std::size_t before = came.size();
        while (timer_entry *e = queue.pop(now))
            came.push_back(e->deadline);
        ASSERT_GT(came.size(), before) << "nothing was removed, so the earliest is exact";
    }
    EXPECT_EQ(came, deadlines);
}

} // namespace
