#include <atomic>
#include <cerrno>
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "fult/base/asymmetric_fence.hpp"
#include "tests/support/support.hpp"

namespace {

using namespace fult::detail;

// Before the first test, and so before the first runtime.
class at_start final : public ::testing::Environment {
  public:
    static inline bool supported = false, registered = false;
    void SetUp() override {
        const long commands = ::syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
        supported = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
        registered = ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    }
};
[[maybe_unused]] const auto *const added = ::testing::AddGlobalTestEnvironment(new at_start);

// Later it takes milliseconds, if the program has threads.
TEST(asymmetric_fence, the_process_is_registered_when_the_library_is_loaded) {
    if (!at_start::supported)
        GTEST_SKIP() << "this kernel has no membarrier";
    EXPECT_TRUE(at_start::registered);
}

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
