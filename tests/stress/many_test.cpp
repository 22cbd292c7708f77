// Many tasks at once: blocked and then signaled, joined in storms, nested deeply.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/support.hpp"

namespace {

using fult::handle;
using fult::spawn;
namespace this_task = fult::this_task;

class many : public ::testing::TestWithParam<unsigned> {
  protected:
    // as small stacks as each tool can do with
    static fult::options opts() {
        fult::options o = fult::testing::workers(GetParam());
        o.stack_size = fult::testing::sanitized ? 64 * 1024 : 16 * 1024;
        return o;
    }
};
INSTANTIATE_TEST_SUITE_P(workers, many, ::testing::Values(1u, 2u, 8u));

TEST_P(many, blocked_then_signaled) {
    const fult::runtime running(opts());
    const std::size_t count = fult::testing::scaled(100000);
    std::atomic<std::size_t> blocked{0}, woken{0};
    std::atomic<bool> go{false};
    std::vector<handle<void>> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([&] {
            blocked.fetch_add(1);
            while (!go.load())
                this_task::wait();
            woken.fetch_add(1);
        }));
    while (blocked.load() != count)
        this_task::yield();
    go = true;
    std::thread foreign([&] { // half of them from outside
        for (std::size_t i = 1; i < count; i += 2)
            signal(all[i].id());
    });
    for (std::size_t i = 0; i < count; i += 2)
        signal(all[i].id());
    foreign.join();
    join_all(all);
    EXPECT_EQ(woken.load(), count);
}

TEST_P(many, unstarted_then_joined_in_any_order) {
    const fult::runtime running(opts());
    const std::size_t count = fult::testing::scaled(200000);
    auto random = fult::testing::seeded(5);
    std::vector<handle<std::size_t>> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([i] { return i; }));
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order)
        ASSERT_EQ(all[i].join(), i);
}

TEST_P(many, storms_of_joins) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    std::atomic<long> ran{0};
    const int rounds = static_cast<int>(fult::testing::scaled(200)) + 1;
    std::vector<handle<void>> parents;
    for (int p = 0; p < 8; ++p)
        parents.push_back(spawn([&, p] {
            for (int r = 0; r < rounds; ++r) {
                std::vector<handle<void>> all;
                for (int i = 0; i < 100; ++i)
                    all.push_back(spawn([&, i] {
                        if ((i + p) % 5 == 0)
                            this_task::yield();
                        ran.fetch_add(1);
                    }));
                if (r % 2)
                    join_all(all);
                else
                    for (auto &each : all)
                        each.join();
            }
        }));
    join_all(parents);
    EXPECT_EQ(ran.load(), 8L * 100 * rounds);
}

// Far deeper than a stack: joins continue on fresh stacks when one runs low.
long chain(long depth) {
    if (depth == 0)
        return 0;
    auto child = spawn([=] { return chain(depth - 1); });
    return child.join() + 1;
}

TEST_P(many, recursion_deeper_than_any_stack) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    const long depth = static_cast<long>(fult::testing::scaled(200000));
    EXPECT_EQ(chain(depth), depth);
    EXPECT_EQ(spawn(chain, depth).join(), depth);
}

// An unbalanced tree whose shape its seeds decide, as UTS has it.
long unbalanced(std::uint64_t seed, int depth) {
    std::mt19937_64 random(seed);
    const unsigned children = depth == 0 ? 200 : random() % 100 < 19 ? 5 : 0;
    std::vector<handle<long>> all;
    for (unsigned i = 0; i < children; ++i)
        all.push_back(spawn(unbalanced, random(), depth + 1));
    long count = 1;
    for (auto &each : all)
        count += each.join();
    return count;
}
long unbalanced_serial(std::uint64_t seed, int depth) {
    std::mt19937_64 random(seed);
    const unsigned children = depth == 0 ? 200 : random() % 100 < 19 ? 5 : 0;
    long count = 1;
    for (unsigned i = 0; i < children; ++i)
        count += unbalanced_serial(random(), depth + 1);
    return count;
}

TEST_P(many, unbalanced_trees) {
    const fult::runtime running(fult::testing::workers(GetParam()));
    for (std::uint64_t seed = 1; seed <= (fult::testing::under_valgrind() ? 1 : 8); ++seed)
        EXPECT_EQ(unbalanced(seed, 0), unbalanced_serial(seed, 0)) << "seed " << seed;
}

} // namespace
