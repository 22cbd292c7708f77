#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <thread>

#include "fult/base/asymmetric_fence.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;

TEST(asymmetric_fence, errno_stays) {
    if (!asymmetric_fence_available())
        GTEST_SKIP() << "this kernel has no membarrier";
    errno = 99;
    asymmetric_fence();
    EXPECT_EQ(errno, 99);
}

// Dekker: of two threads that announce themselves and then check the other, at least one sees the other. The
// light side has a compiler barrier only.
TEST(asymmetric_fence, orders_a_store_before_a_load) {
    if (!asymmetric_fence_available())
        GTEST_SKIP() << "this kernel has no membarrier";
    if (fult::testing::under_valgrind())
        GTEST_SKIP() << "Valgrind runs one thread at a time";
    const std::size_t rounds = fult::testing::scaled(20000);
    alignas(64) std::atomic<int> light{0};
    alignas(64) std::atomic<int> heavy{0};
    alignas(64) std::atomic<std::size_t> round{0};
    std::atomic<std::size_t> answered{0};
    int light_saw = 0;
    std::thread other([&] {
        for (std::size_t i = 1; i <= rounds; ++i) {
            fult::testing::spin_until([&] { return round.load() == i; });
            light.store(1, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
            light_saw = heavy.load(std::memory_order_relaxed);
            answered.store(i);
        }
    });
    for (std::size_t i = 1; i <= rounds; ++i) {
        light = 0;
        heavy = 0;
        round = i;
        heavy.store(1, std::memory_order_relaxed);
        asymmetric_fence();
        const int heavy_saw = light.load(std::memory_order_relaxed);
        fult::testing::spin_until([&] { return answered.load() == i; });
        ASSERT_EQ(heavy_saw | light_saw, 1) << "round " << i;
    }
    other.join();
}

} // namespace
