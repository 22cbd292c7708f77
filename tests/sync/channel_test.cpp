#include <memory>
#include <numeric>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::channel;
using fult::spawn;
using fult::testing::long_time;
using fult::testing::short_time;
namespace this_task = fult::this_task;

class channel_test : public fult::testing::sync_test {};
FULT_TEST_CROWDS(channel_test);

// Every value arrives once, and those of one sender in their order.
TEST_P(channel_test, nothing_is_lost_doubled_or_overtaken) {
    for (const std::size_t capacity : {0u, 1u, 2u, 100u}) {
        channel<std::unique_ptr<std::pair<unsigned, std::size_t>>> through(capacity);
        const std::size_t rounds = fult::testing::scaled(500);
        const unsigned senders = size() / 2;
        std::atomic<unsigned> left{senders};
        std::atomic<std::size_t> received{0};
        all([&](unsigned i) {
            if (i % 2) {
                for (std::size_t r = 0; r < rounds; ++r)
                    ASSERT_TRUE(through.send(std::make_unique<std::pair<unsigned, std::size_t>>(i, r + 1)));
                if (--left == 0)
                    through.close();
                return;
            }
            std::vector<std::size_t> last(size());
            while (auto value = through.receive()) {
                auto [from, number] = **value;
                ASSERT_GT(number, last[from]);
                last[from] = number;
                ++received;
            }
        });
        EXPECT_EQ(received.load(), rounds * senders) << "capacity " << capacity;
    }
}

TEST_P(channel_test, trying) {
    channel<int> two(2);
    EXPECT_EQ(two.try_receive(), std::nullopt);
    EXPECT_TRUE(two.try_send(1));
    EXPECT_TRUE(two.try_send(2));
    EXPECT_FALSE(two.try_send(3));
    EXPECT_EQ(two.try_receive(), 1);
    two.close();
    two.close();
    EXPECT_TRUE(two.closed());
    EXPECT_FALSE(two.send(4));
    EXPECT_EQ(two.receive(), 2);
    EXPECT_EQ(two.receive(), std::nullopt);
    channel<int> direct(0);
    EXPECT_FALSE(direct.try_send(1));
}

TEST_P(channel_test, timed_and_stopped_waits) {
    channel<std::unique_ptr<int>> one(1);
    EXPECT_FALSE(one.try_receive_for(short_time));
    EXPECT_FALSE(one.try_receive_until(std::chrono::system_clock::now() + short_time)); // time: a lower bound
    EXPECT_TRUE(one.send(std::make_unique<int>(1)));
    auto kept = std::make_unique<int>(2);
    EXPECT_FALSE(one.try_send_for(std::move(kept), short_time));
    ASSERT_TRUE(kept) << "not moved from where it was not sent";
    std::stop_source source;
    auto stopper = spawn([&] { source.request_stop(); });
    EXPECT_FALSE(one.send(std::move(kept), source.get_token()));
    stopper.join();
    ASSERT_TRUE(kept);
    EXPECT_EQ(**one.receive(source.get_token()), 1) << "it is there: no wait";
    EXPECT_FALSE(one.receive(source.get_token()));
    // time: given, never reached
    EXPECT_FALSE(one.try_send_until(std::move(kept), std::chrono::system_clock::now() + long_time) && kept);
    EXPECT_EQ(**one.try_receive_for(long_time), 2);
}

TEST_P(channel_test, timeouts_race_with_partners) {
    channel<int> direct(0);
    std::atomic<long> sent{0}, received{0};
    const std::size_t rounds = fult::testing::scaled(300);
    all([&](unsigned i) {
        for (std::size_t r = 0; r < rounds; ++r) {
            const auto limit = std::chrono::microseconds((r + i * 3) % 40); // time: either order is right
            if (i % 2)
                sent += direct.try_send_for(1, limit);
            else
                received += direct.try_receive_for(limit).has_value();
        }
    });
    EXPECT_EQ(sent.load(), received.load());
}

TEST_P(channel_test, close_lets_all_go) {
    channel<int> full(1), none(1);
    ASSERT_TRUE(full.send(1));
    std::atomic<unsigned> there{0};
    all([&](unsigned i) {
        if (++there == size()) {
            full.close();
            none.close();
        }
        if (i % 2)
            EXPECT_FALSE(full.send(2));
        else
            EXPECT_FALSE(none.receive());
    });
    EXPECT_EQ(full.receive(), 1);
}

// A clock that does not advance: a loop that polls it would never end.
struct frozen_clock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<frozen_clock>;
    [[maybe_unused]] static constexpr bool is_steady = false;
    static time_point now() noexcept { return time_point(); }
};

TEST_P(channel_test, close_ends_timed_calls_at_once) {
    const auto never = frozen_clock::now() + long_time; // time: given, never reached
    channel<int> full(1), none(1);
    ASSERT_TRUE(full.send(1));
    std::atomic<unsigned> there{0};
    all([&](unsigned i) { // some wait, some come afterwards
        if (++there == size()) {
            full.close();
            none.close();
        }
        if (i % 2)
            EXPECT_FALSE(full.try_send_until(2, never));
        else
            EXPECT_FALSE(none.try_receive_until(never));
    });
    EXPECT_FALSE(full.try_send_until(2, never));
    EXPECT_EQ(full.try_receive_until(never), 1) << "what is there can still be received";
    EXPECT_FALSE(full.try_receive_until(never));
}

} // namespace
