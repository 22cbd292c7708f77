#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "fult/base/worker_bits.hpp"
#include "tests/support/support.hpp"

namespace {

using fult::detail::sleepers;

TEST(sleepers, add_and_remove) {
    sleepers s;
    EXPECT_FALSE(s.any());
    EXPECT_EQ(s.remove_any(0), -1);
    s.add(3);
    s.add(1023);
    EXPECT_TRUE(s.any());
    EXPECT_EQ(s.count(), 2u);
    EXPECT_TRUE(s.remove(3));
    EXPECT_FALSE(s.remove(3)) << "only once";
    EXPECT_FALSE(s.remove(4));
    EXPECT_EQ(s.remove_any(0), 1023);
    EXPECT_FALSE(s.any());
}

TEST(sleepers, every_one_is_found_from_everywhere) {
    for (const unsigned start : {0u, 64u, 500u, 1023u, 1024u}) {
        auto s = std::make_unique<sleepers>();
        std::set<int> all, found;
        for (unsigned i = 0; i < fult::detail::worker_bits::capacity; i += 37) {
            s->add(i);
            all.insert(static_cast<int>(i));
        }
        for (int w; (w = s->remove_any(start)) >= 0;)
            EXPECT_TRUE(found.insert(w).second);
        EXPECT_EQ(found, all);
    }
}

TEST(sleepers, near_ones_come_first) {
    sleepers s;
    s.add(2);
    s.add(200);
    EXPECT_EQ(s.remove_any(195), 200);
    EXPECT_EQ(s.remove_any(195), 2);
}

// A sleeper that is removed while it is being added must not hide another one from signalers. Only rounds in
// which both threads run at the same time count: of the others, in which one yields, few are enough.
TEST(sleepers, one_that_comes_and_goes_hides_none) {
    sleepers s;
    s.add(7); // sleeps all the time
    const std::size_t rounds = fult::testing::scaled(20000);
    constexpr unsigned looks_before_yield = 2000, most_yields = 3000;
    std::atomic<std::size_t> woken{0};
    std::atomic<bool> over{false};
    std::size_t hidden = 0;
    std::thread waker([&] {
        for (unsigned looks = 1; !over.load(); ++looks)
            if (s.remove(3)) {
                hidden += s.any() ? 0 : 1; // a signaler's check
                ++woken;
            } else if (looks % looks_before_yield == 0) {
                std::this_thread::yield();
            }
    });
    unsigned yields = 0;
    for (std::size_t i = 0; i < rounds && yields < most_yields; ++i) {
        s.add(3);
        for (unsigned looks = 1; woken.load() == i; ++looks)
            if (looks % looks_before_yield == 0) {
                std::this_thread::yield();
                ++yields;
            }
    }
    over = true;
    waker.join();
    EXPECT_EQ(hidden, 0u);
    EXPECT_TRUE(s.remove(7));
}

// The thread that removes a sleeper wakes it: exactly one does.
TEST(sleepers, one_remover_wins) {
    sleepers s;
    const std::size_t rounds = fult::testing::scaled(50000);
    std::atomic<std::size_t> removed{0};
    std::atomic<bool> end{false};
    std::thread other([&] {
        while (!end.load()) {
            if (s.any() && s.remove_any(0) >= 0)
                removed.fetch_add(1);
            ::sched_yield();
        }
    });
    for (std::size_t i = 0; i < rounds; ++i) {
        s.add(5);
        if (s.remove(5))
            removed.fetch_add(1);
        else
            while (removed.load() != i + 1)
                ::sched_yield();
    }
    end = true;
    other.join();
    EXPECT_EQ(removed.load(), rounds);
    EXPECT_EQ(s.count(), 0u);
}

} // namespace
