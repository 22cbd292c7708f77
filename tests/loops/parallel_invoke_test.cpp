#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fult/loops.hpp>

#include "tests/support/support.hpp"

namespace {
using namespace fult;

TEST(parallel_invoke, calls_each_once) {
    for (const unsigned workers : {1u, 2u, 8u}) {
        runtime rt(fult::testing::workers(workers));
        for (std::size_t round = 0; round < fult::testing::scaled(5000); ++round) {
            int a = 0, b = 0, c = 0, d = 0;
            auto only_moves = [&, p = std::make_unique<int>(4)] { d += *p; };
            parallel_invoke([&] { a += 1; },
                            [&] {
                                this_task::yield();
                                b += 2;
                            },
                            [&] {
                                c += 3;
                                return c;
                            },
                            only_moves);
            ASSERT_EQ(a * 1000 + b * 100 + c * 10 + d, 1234);
        }
        int alone = 0;
        parallel_invoke([&] { ++alone; });
        EXPECT_EQ(alone, 1);
    }
}

int fib(int n) {
    if (n < 2)
        return n;
    int a = 0, b = 0;
    parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
    return a + b;
}

TEST(parallel_invoke, nests) {
    runtime rt(fult::testing::workers(2));
    EXPECT_EQ(fib(20), 6765);
}

// They run at a time: each waits for the other.
TEST(parallel_invoke, runs_them_at_a_time) {
    runtime rt(fult::testing::workers(2));
    std::atomic<int> here{0};
    const auto meet = [&] {
        ++here;
        fult::testing::spin_until([&] { return here.load() == 2; });
    };
    parallel_invoke(meet, meet);
    EXPECT_EQ(here, 2);
}

TEST(parallel_invoke, the_first_exception_comes_out) {
    runtime rt(fult::testing::workers(2));
    int later = 0;
    EXPECT_THROW(parallel_invoke([] { throw std::runtime_error("first"); }, [&] { ++later; }),
                 std::runtime_error);
    EXPECT_THROW(parallel_invoke([&] { ++later; }, [] { throw 1; }), int);
}

TEST(parallel_invoke, foreign_threads_and_no_runtime) {
    EXPECT_THROW(parallel_invoke([] {}, [] {}), std::logic_error);
    runtime rt(fult::testing::workers(2));
    std::atomic<int> calls{0};
    std::thread outside([&] { parallel_invoke([&] { ++calls; }, [&] { ++calls; }); });
    while (calls != 2)
        this_task::yield();
    outside.join();
}

} // namespace
