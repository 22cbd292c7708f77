// Everything of sync at once, under random delays: an operation that is lost or done twice shows in the sums
// or hangs until the test's timeout.
#include <mutex>
#include <shared_mutex>

#include "tests/sync/crowd.hpp"

namespace {

class sync_stress : public fult::testing::sync_test {};
FULT_TEST_CROWDS(sync_stress);

// Yields, sleeps in another wait, or computes for a moment.
class delays {
  public:
    explicit delays(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    void operator()() {
        const auto kind = below(32);
        if (kind < 4) {
            if (fult::in_task())
                fult::this_task::yield();
            else
                std::this_thread::yield();
        } else if (kind == 4) {
            // time: either order is right
            EXPECT_FALSE(never_.wait_for(std::chrono::microseconds(below(30))));
        } else {
            std::atomic<std::uint64_t> left{below(50)};
            while (left.load(std::memory_order_relaxed) != 0)
                left.fetch_sub(1, std::memory_order_relaxed);
        }
    }

  private:
    std::mt19937_64 random_;
    fult::event never_;
};

TEST_P(sync_stress, everything_under_random_delays) {
    const std::size_t rounds = fult::testing::scaled(400);
    fult::qlock lock;
    fult::condition_variable changed;
    fult::counting_semaphore<> units(2);
    fult::barrier<> together(size());
    fult::channel<std::uint64_t> ring(size());
    fult::full_empty<std::uint64_t> word(0);
    fult::shared_qlock table;
    std::uint64_t guarded = 0, entries = 0, turn = 0;
    std::atomic<std::uint64_t> sent{0}, received{0}, added{0};
    (void)fult::testing::seeded(size());
    all([&](unsigned i) {
        delays delay(i * 977 + size());
        for (std::size_t r = 0; r < rounds; ++r) {
            {
                std::lock_guard guard(lock);
                ++guarded;
                delay();
            }
            units.acquire();
            delay();
            units.release();
            const std::uint64_t value = delay.below(1000);
            ASSERT_TRUE(ring.send(std::uint64_t(value)));
            sent += value;
            delay();
            received += *ring.receive();
            word.writeEF(word.readFE() + value);
            added += value;
            if (delay.below(4) == 0) {
                std::unique_lock guard(table);
                ++entries;
                delay();
            } else {
                std::shared_lock guard(table);
                delay();
            }
            { // in turn, one after the other
                std::unique_lock guard(lock);
                changed.wait(guard, [&] { return turn % size() == i; });
                ++turn;
                changed.notify_all();
            }
            if (r % 8 == 0)
                together.arrive_and_wait();
        }
    });
    EXPECT_EQ(guarded, rounds * size());
    EXPECT_EQ(turn, rounds * size());
    EXPECT_EQ(sent.load(), received.load());
    EXPECT_EQ(word.readFF(), added.load());
}

} // namespace
