#include <memory>
#include <string>

#include "tests/sync/crowd.hpp"

// Of a value that cannot be copied, all that is not for those that can.
template class fult::full_empty<std::unique_ptr<int>>;

namespace {

using namespace std::chrono_literals;
using fult::full_empty;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

// A value that cannot be copied can be taken, not read: a read is an error of the call, not of what it
// calls.
template <class T>
concept can_be_read = requires(full_empty<T> &v, std::stop_token stop) {
    v.readFF();
    v.try_readFF();
    v.try_readFF_for(1s);                                 // time: a lower bound
    v.try_readFF_until(std::chrono::steady_clock::now()); // time: a lower bound
    v.readFF(stop);
};
template <class T>
concept some_read = requires(full_empty<T> &v) {
    v.readFF();
}
|| requires(full_empty<T> &v) { v.try_readFF(); }
// time: a lower bound
|| requires(full_empty<T> &v) { v.try_readFF_for(1s); }
// time: a lower bound
|| requires(full_empty<T> &v) { v.try_readFF_until(std::chrono::steady_clock::now()); }
|| requires(full_empty<T> &v, std::stop_token stop) { v.readFF(stop); };
template <class T>
concept can_be_taken = requires(full_empty<T> &v) {
    v.readFE();
};
static_assert(can_be_read<std::string> && can_be_taken<std::string>);
static_assert(!some_read<std::unique_ptr<int>> && can_be_taken<std::unique_ptr<int>>);

TEST(full_empty_values, one_that_only_moves) {
    full_empty<std::unique_ptr<int>> v(std::make_unique<int>(5));
    EXPECT_EQ(*v.readFE(), 5);
    v.writeEF(std::make_unique<int>(6));
    EXPECT_EQ(**v.try_readFE(), 6);
}

class full_empty_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(full_empty_test);

TEST_P(full_empty_test, a_counter_without_a_lock) {
    full_empty<long> counter(0);
    const std::size_t rounds = fult::testing::scaled(1000);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            const long value = counter.readFE();
            if ((r + i) % 8 == 0)
                yield_to_others();
            counter.writeEF(value + 1);
        }
    });
    EXPECT_EQ(counter.readFF(), long(rounds * size()));
}

TEST_P(full_empty_test, each_value_is_taken_once) {
    full_empty<unsigned> slot;
    std::atomic<unsigned long> put{0}, taken{0};
    const std::size_t rounds = fult::testing::scaled(1000);
    const unsigned pairs = size() / 2;
    all([&](unsigned i) {
        if (i >= 2 * pairs)
            return;
        for (std::size_t r = 1; r <= rounds; ++r)
            if (i % 2) {
                slot.writeEF(unsigned(r));
                put += r;
            } else {
                taken += slot.readFE();
            }
    });
    EXPECT_EQ(put.load(), taken.load());
    EXPECT_FALSE(slot.is_full());
}

TEST_P(full_empty_test, all_readers_get_it_before_it_is_taken) {
    full_empty<std::string> slot;
    std::atomic<unsigned> taken{0};
    all([&](unsigned i) {
        if (i == 0) {
            slot.writeF("for all of them, and longer than fits into the string itself");
            while (taken.load() != size() - 1)
                yield_to_others();
            slot.purge();
            EXPECT_EQ(slot.try_readFF(), std::nullopt);
            return;
        }
        EXPECT_EQ(slot.readFF().substr(0, 7), "for all");
        ++taken;
    });
}

TEST_P(full_empty_test, fill_purge_and_trying) {
    full_empty<int> v;
    EXPECT_FALSE(v.is_full());
    EXPECT_EQ(v.try_readFE(), std::nullopt);
    v.fill();
    EXPECT_EQ(v.readFF(), 0);
    EXPECT_FALSE(v.try_writeEF(1));
    v.purge();
    EXPECT_TRUE(v.try_writeEF(1));
    v.writeF(2);
    EXPECT_EQ(v.try_readFF(), 2);
    EXPECT_EQ(v.try_readFE(), 2);
    v.fill();
    EXPECT_TRUE(v.is_full());
    auto writer = spawn([&] { v.writeEF(5); });
    this_task::yield();
    v.purge(); // lets the writer in
    writer.join();
    EXPECT_EQ(v.readFF(), 5);
}

TEST_P(full_empty_test, timed_and_stopped_waits) {
    full_empty<int> v;
    EXPECT_FALSE(v.try_readFF_for(short_time));
    EXPECT_FALSE(v.try_readFE_until(std::chrono::system_clock::now() + short_time)); // time: a lower bound
    std::stop_source source;
    auto stopper = spawn([&] { source.request_stop(); });
    EXPECT_FALSE(v.readFE(source.get_token()));
    stopper.join();
    v.writeEF(1);
    EXPECT_FALSE(v.try_writeEF_for(2, short_time));
    EXPECT_FALSE(v.writeEF(2, source.get_token()));
    EXPECT_EQ(v.try_readFE_for(long_time), 1);
    // time: given, never reached
    EXPECT_TRUE(v.try_writeEF_until(3, std::chrono::steady_clock::now() + long_time));
    EXPECT_EQ(v.try_readFF_until(std::chrono::steady_clock::now()), 3); // time: a lower bound
}

} // namespace
