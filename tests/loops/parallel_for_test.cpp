// Every index once, by whatever schedule; which worker is requested to share, and which is not.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fult/loops.hpp>

#include "fult/scheduler/worker.hpp"
#include "tests/support/support.hpp"

namespace {
using namespace fult;
using fult::testing::scaled;
using fult::testing::spin_until;

constexpr schedule schedules[] = {schedule::lazy, schedule::guided, schedule::fixed};

std::string what_of(const std::function<void()> &call) {
    try {
        call();
    } catch (const std::invalid_argument &error) {
        return error.what();
    }
    return "no std::invalid_argument";
}

class by_workers : public ::testing::TestWithParam<unsigned> {
  protected:
    runtime runtime_{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(parallel_for, by_workers, ::testing::Values(1u, 2u, 8u));

TEST_P(by_workers, calls_each_index_once) {
    for (const schedule how : schedules)
        for (const std::ptrdiff_t grain : {0, 1, 3, 64, 5000})
            for (const int n : {1, 2, 3, 7, 8, 100, 1000, 4099}) {
                std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
                parallel_for(0, n,
                             [&](int i) {
                                 calls[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
                             },
                             {.schedule = how, .grain = grain});
                for (int i = 0; i < n; ++i)
                    ASSERT_EQ(calls[static_cast<std::size_t>(i)], 1)
                        << "index " << i << " of " << n << ", schedule " << int(how) << ", grain " << grain;
            }
}

// Long enough for steps to grow and for parts to be taken in the middle.
TEST_P(by_workers, calls_each_index_of_a_long_range_once) {
    const std::size_t n = scaled(1'000'000);
    for (const schedule how : schedules) {
        std::vector<unsigned char> calls(n, 0);
        parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++calls[i]; }, {.schedule = how});
        ASSERT_EQ(std::count(calls.begin(), calls.end(), 1), static_cast<std::ptrdiff_t>(n)) << int(how);
    }
}

TEST_P(by_workers, pieces_are_the_range) {
    for (const schedule how : schedules)
        for (const std::ptrdiff_t grain : {0, 10}) {
            std::vector<std::atomic<int>> calls(1003);
            std::atomic<int> small{0};
            parallel_for_ranges(-3L, 1000L,
                                [&](long begin, long end) {
                                    EXPECT_LT(begin, end);
                                    small += end - begin < grain;
                                    for (; begin != end; ++begin)
                                        calls[static_cast<std::size_t>(begin + 3)].fetch_add(1);
                                },
                                {.schedule = how, .grain = grain});
            for (const auto &each : calls)
                ASSERT_EQ(each, 1) << int(how);
            if (how != schedule::lazy) {
                EXPECT_LE(small, 1) << int(how);
            }
        }
}

TEST_P(by_workers, iterators_give_elements) {
    for (const schedule how : schedules) {
        std::vector<int> v(1000);
        std::iota(v.begin(), v.end(), 0);
        parallel_for(v.begin(), v.end(), [](int &x) { x += 7; }, {.schedule = how});
        parallel_for(v.rbegin(), v.rend(), [](int &x) { x *= 2; }, {.schedule = how});
        parallel_for_ranges(v.data(), v.data() + v.size(), [](int *b, int *e) {
            for (; b != e; ++b)
                --*b;
        });
        for (int i = 0; i < 1000; ++i)
            ASSERT_EQ(v[static_cast<std::size_t>(i)], 2 * (i + 7) - 1);
    }
}

TEST_P(by_workers, grids_of_two_and_three_dimensions) {
    for (const schedule how : schedules) {
        std::vector<std::atomic<int>> plane(37 * 41), space(7 * 11 * 13);
        parallel_for(extent{37, 41},
                     [&](auto i, auto j) { plane[static_cast<std::size_t>(i * 41 + j)].fetch_add(1); },
                     {.schedule = how});
        parallel_for(extent{7u, 11L, 13},
                     [&](auto i, auto j, auto k) {
                         space[static_cast<std::size_t>((i * 11 + j) * 13 + k)].fetch_add(1);
                     },
                     {.schedule = how, .grain = 5});
        for (const auto &each : plane)
            ASSERT_EQ(each, 1);
        for (const auto &each : space)
            ASSERT_EQ(each, 1);
    }
}

TEST_P(by_workers, loops_nest) {
    constexpr std::size_t n = 40;
    for (const schedule outer : schedules)
        for (const schedule inner : schedules) {
            std::vector<std::atomic<int>> calls(n * n * 3);
            parallel_for(std::size_t{0}, n,
                         [&](std::size_t i) {
                             parallel_for(std::size_t{0}, n,
                                          [&](std::size_t j) {
                                              parallel_for(std::size_t{0}, std::size_t{3},
                                                           [&](std::size_t k) {
                                                               calls[(i * n + j) * 3 + k].fetch_add(1);
                                                           });
                                          },
                                          {.schedule = inner});
                         },
                         {.schedule = outer});
            for (const auto &each : calls)
                ASSERT_EQ(each, 1) << int(outer) << ' ' << int(inner);
        }
}

TEST_P(by_workers, bodies_may_block) {
    for (const schedule how : schedules) {
        std::atomic<int> done{0};
        parallel_for(0, 200,
                     [&](int i) {
                         if (i % 3 == 0)
                             this_task::yield();
                         if (i % 5 == 0) {
                             const task_id me = this_task::id();
                             std::atomic<bool> notified{false};
                             auto other = spawn([&] {
                                 notified = true;
                                 signal(me);
                             });
                             this_task::wait([&] { return notified.load(); });
                             other.join();
                         }
                         ++done;
                     },
                     {.schedule = how});
        EXPECT_EQ(done, 200) << int(how);
    }
}

TEST_P(by_workers, the_first_exception_comes_out_when_all_has_ended) {
    for (const schedule how : schedules)
        for (const int bad : {0, 500, 999}) {
            std::atomic<int> inside{0};
            try {
                parallel_for(0, 1000,
                             [&](int i) {
                                 struct count {
                                     std::atomic<int> &inside;
                                     explicit count(std::atomic<int> &n) : inside(n) { ++inside; }
                                     ~count() { --inside; }
                                 } here{inside};
                                 if (i % 10 == 0)
                                     this_task::yield();
                                 if (i == bad)
                                     throw std::runtime_error(std::to_string(i));
                             },
                             {.schedule = how});
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::runtime_error &error) {
                EXPECT_EQ(error.what(), std::to_string(bad));
            }
            EXPECT_EQ(inside, 0);
        }
}

TEST_P(by_workers, nothing_begins_after_an_exception) {
    for (const schedule how : schedules) {
        std::atomic<int> calls{0};
        EXPECT_THROW(parallel_for(0, 1'000'000,
                                  [&](int) {
                                      ++calls;
                                      throw 1;
                                  },
                                  {.schedule = how, .grain = 1}),
                     int);
        EXPECT_LE(calls, static_cast<int>(GetParam())) << int(how); // one for each that had begun
    }
}

TEST(parallel_for, a_foreign_thread_may_call) {
    runtime rt(fult::testing::workers(2));
    std::atomic<long> sum{0};
    std::atomic<bool> as_task{true}, thrown{false}, over{false};
    std::thread outside([&] {
        parallel_for(0, 1000, [&](int i) {
            as_task = as_task && in_task();
            sum += i;
        });
        try {
            parallel_for(0, 10, [](int i) {
                if (i == 3)
                    throw 1;
            });
        } catch (int) {
            thrown = true;
        }
        over = true;
    });
    while (!over)
        this_task::yield();
    outside.join();
    EXPECT_EQ(sum, 499500);
    EXPECT_TRUE(as_task);
    EXPECT_TRUE(thrown);
}

TEST(parallel_for, without_a_runtime_reports_it) {
    EXPECT_THROW(parallel_for(0, 10, [](int) {}), std::logic_error);
    EXPECT_NO_THROW(parallel_for(0, 0, [](int) {}));
}

TEST(parallel_for, bad_input_is_named) {
    runtime rt(fult::testing::workers(1));
    int calls = 0;
    const auto count = [&](auto...) { ++calls; };
    EXPECT_EQ(what_of([&] { parallel_for(0, 10, count, {.grain = -3}); }),
              "fult: parallel_for: the grain is -3; pass the minimum number of iterations of a part, or 0 "
              "for an automatic choice");
    EXPECT_NE(what_of([&] {
                  parallel_for_ranges(0, 10, count, {.grain = -1});
              }).find("parallel_for_ranges: the grain"),
              std::string::npos);
    EXPECT_NE(what_of([&] { parallel_for(1, 0, count); }).find("ends before it begins"), std::string::npos);
    EXPECT_NE(what_of([&] { parallel_for(5u, 4u, count); }).find("ends before it begins"), std::string::npos);
    std::vector<int> v(3);
    EXPECT_NE(what_of([&] { parallel_for(v.end(), v.begin(), count); }).find("ends before"),
              std::string::npos);
    EXPECT_NE(what_of([&] { parallel_for(-1, std::size_t{5}, count); }).find("unsigned"), std::string::npos);
    EXPECT_NE(what_of([&] { parallel_for(extent{3, -1}, count); }).find("extent 1 is -1"), std::string::npos);
    const std::ptrdiff_t big = std::ptrdiff_t{1} << 31;
    EXPECT_NE(what_of([&] {
                  parallel_for(extent{big, big, big}, count);
              }).find("product"),
              std::string::npos);
    parallel_for(extent{big, 0, big * big}, count); // no points, whatever the others
    parallel_for(7, 7, count);
    parallel_for(v.begin(), v.begin(), count);
    EXPECT_EQ(calls, 0);
}

TEST(parallel_for, the_ends_of_the_index_types) {
    runtime rt(fult::testing::workers(2));
    std::atomic<long> sum{0};
    parallel_for(std::int8_t{-128}, std::int8_t{127}, [&](std::int8_t i) { sum += i; });
    EXPECT_EQ(sum, -128 - 127);
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::atomic<int> calls{0};
    parallel_for(least, least + 5, [&](std::int64_t i) { calls += i < least + 5; });
    parallel_for(most - 5, most, [&](std::int64_t i) { calls += i >= most - 5; });
    parallel_for(std::numeric_limits<std::uint64_t>::max() - 5, std::numeric_limits<std::uint64_t>::max(),
                 [&](std::uint64_t) { ++calls; });
    EXPECT_EQ(calls, 15);
    // more indices than a signed 64-bit integer counts: the first error ends it
    for (const schedule how : schedules)
        EXPECT_THROW(parallel_for(least, most, [](std::int64_t) { throw 1; }, {.schedule = how}), int);
}

// Without a request a loop spawns no task. With one worker there is none; no task is spawned, so the next
// slot stays the same.
TEST(lazy_loop, creates_no_task_without_a_request) {
    runtime rt(fult::testing::workers(1));
    detail::worker_hot *w = detail::current_worker();
    spawn([] {}).join(); // from here on there is a run of free slots
    const detail::task *const before = w->run.next;
    bool moved = false;
    parallel_for(0, 10'000, [&](int) { moved = moved || w->run.next != before; });
    std::vector<int> v(10'000);
    std::iota(v.rbegin(), v.rend(), 0);
    parallel_sort(v.begin(), v.end(), [&](int a, int b) {
        moved = moved || w->run.next != before;
        return a < b;
    });
    EXPECT_EQ(parallel_reduce(
                  0, 10'000, 0,
                  [&](int) {
                      moved = moved || w->run.next != before;
                      return 1;
                  },
                  std::plus<>()),
              10'000);
    EXPECT_FALSE(moved);
}

// A pending request is answered once; then the other worker is busy, and no task is created any more.
TEST(lazy_loop, creates_no_task_while_the_others_are_busy) {
    runtime rt(fult::testing::workers(2));
    std::atomic<bool> begun{false}, end{false};
    auto busy = spawn_pinned(1, [&] {
        begun = true;
        spin_until([&] { return end.load(); });
    });
    spin_until([&] { return begun.load(); });
    spawn([] {}).join(); // answers the earlier request
    ASSERT_FALSE(detail::work_is_requested());
    detail::worker_hot *w = detail::current_worker();
    const detail::task *const before = w->run.next;
    bool moved = false;
    parallel_for(0, 100'000, [&](int) { moved = moved || w->run.next != before; });
    EXPECT_FALSE(moved);
    end = true;
    busy.join();
}

// They sleep in the kernel when the loop begins; it ends early only if each of them gets a part.
TEST(lazy_loop, wakes_the_sleepers) {
    for (const unsigned count : {2u, 4u, 8u}) {
        runtime rt(fult::testing::workers(count));
        spin_until([&] { return detail::this_worker()->team.sleepers.count() == count - 1; });
        std::atomic<unsigned> seen{0};
        EXPECT_THROW(parallel_for(0, 2'000'000'000,
                                  [&](int) {
                                      const unsigned me = 1u << this_task::worker();
                                      if ((seen.load(std::memory_order_relaxed) & me) == 0)
                                          seen |= me;
                                      if (seen.load(std::memory_order_relaxed) == (1u << count) - 1)
                                          throw 1; // enough
                                  }),
                     int)
            << count << " workers";
    }
}

// A worker that becomes free in the middle of a loop gets a part of it.
TEST(lazy_loop, shares_with_one_that_comes_later) {
    runtime rt(fult::testing::workers(2));
    std::atomic<bool> free{false};
    auto busy = spawn_pinned(1, [&] { spin_until([&] { return free.load(); }); });
    EXPECT_THROW(parallel_for(0, 2'000'000'000,
                              [&](int) {
                                  free = true;
                                  if (this_task::worker() == 1)
                                      throw 1; // enough
                              }),
                 int);
    busy.join();
}

} // namespace
