// docs/from-openmp.md, row by row.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace {
constexpr int n = 100;
constexpr long sum_to_n = 4950;

long f(long x) { return x + 1; }

fult::options two_workers() { return fult::testing::workers(2); }

TEST(FromOpenmp, start) {
    fult::runtime runtime;
    EXPECT_TRUE(fult::in_task());
}

TEST(FromOpenmp, num_threads) {
    fult::options options;
    options.workers = 2;
    fult::runtime runtime(options);
    EXPECT_EQ(fult::worker_count(), 2);
}

TEST(FromOpenmp, proc_bind) {
    fult::options options;
    options.bind = fult::bind_mode::off;
    fult::runtime runtime(options);
    EXPECT_EQ(runtime.effective_options().bind, fult::bind_mode::off);
}

TEST(FromOpenmp, stacksize) {
    fult::options options = two_workers();
    options.stack_size = 512 * 1024;
    fult::runtime runtime(options);
    EXPECT_GE(runtime.effective_options().stack_size, 512u * 1024); // an odd number of pages
}

TEST(FromOpenmp, get_num_threads) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::worker_count(), 2);
}

TEST(FromOpenmp, get_thread_num) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::this_task::worker(), 0);
}

TEST(FromOpenmp, in_parallel) {
    EXPECT_FALSE(fult::in_task());
    fult::runtime runtime(two_workers());
    EXPECT_TRUE(fult::in_task());
}

TEST(FromOpenmp, wtime) {
    const auto start = std::chrono::steady_clock::now(); // time: a lower bound
    EXPECT_GE(std::chrono::steady_clock::now(), start);  // time: a lower bound
}

TEST(FromOpenmp, parallel) {
    fult::runtime runtime(two_workers());
    std::atomic<unsigned> calls{0};
    const auto body = [&](unsigned) { ++calls; };
    fult::parallel_for(0, fult::worker_count(), body, {.schedule = fult::schedule::fixed});
    EXPECT_EQ(calls, 2u);
}

TEST(FromOpenmp, parallel_for) {
    fult::runtime runtime(two_workers());
    std::vector<int> a(n);
    fult::parallel_for(0, n, [&](int i) { a[i] = 2 * i; });
    EXPECT_EQ(std::accumulate(a.begin(), a.end(), 0L), 2 * sum_to_n);
}

TEST(FromOpenmp, for_iterators) {
    fult::runtime runtime(two_workers());
    std::vector<int> v(n);
    fult::parallel_for(v.begin(), v.end(), [](int &x) { ++x; });
    EXPECT_EQ(std::count(v.begin(), v.end(), 1), n);
}

TEST(FromOpenmp, schedule_static) {
    fult::runtime runtime(two_workers());
    std::atomic<long> sum{0};
    const auto body = [&](int i) { sum += i; };
    fult::parallel_for(0, n, body, {.schedule = fult::schedule::fixed, .grain = 16});
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, schedule_dynamic) {
    fult::runtime runtime(two_workers());
    std::atomic<long> sum{0};
    const auto body = [&](int i) { sum += i; };
    fult::parallel_for(0, n, body, {.grain = 16});
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, schedule_guided) {
    fult::runtime runtime(two_workers());
    std::atomic<long> sum{0};
    const auto body = [&](int i) { sum += i; };
    fult::parallel_for(0, n, body, {.schedule = fult::schedule::guided});
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, collapse) {
    fult::runtime runtime(two_workers());
    int a[3][4] = {};
    fult::parallel_for(fult::extent{3, 4}, [&](auto i, auto j) { a[i][j] = 1; });
    EXPECT_EQ(std::accumulate(&a[0][0], &a[0][0] + 12, 0), 12);
}

TEST(FromOpenmp, nowait) {
    fult::runtime runtime(two_workers());
    std::atomic<long> sum{0};
    const auto body = [&](int i) { sum += i; };
    auto first = fult::spawn([&] { fult::parallel_for(0, n, body); });
    fult::parallel_for(0, n, body);
    first.join();
    EXPECT_EQ(sum, 2 * sum_to_n);
}

TEST(FromOpenmp, simd) {
    fult::runtime runtime(two_workers());
    std::vector<int> a(n);
    fult::parallel_for_ranges(0, n, [&](int first, int last) {
        for (int i = first; i < last; ++i)
            a[i] = 1;
    });
    EXPECT_EQ(std::count(a.begin(), a.end(), 1), n);
}

TEST(FromOpenmp, reduction) {
    fult::runtime runtime(two_workers());
    long sum = fult::parallel_reduce(
        0, n, 0L, [](int i) { return long{i}; }, std::plus<>());
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, reduction_ordered) {
    const auto map = [](int i) { return 1.0 / (i + 1); };
    double sums[2];
    for (unsigned workers : {1u, 2u}) {
        fult::options options = two_workers();
        options.workers = workers;
        fult::runtime runtime(options);
        sums[workers - 1] = fult::parallel_reduce(0, n, 0.0, map, std::plus<>(), {.ordered = true});
    }
    EXPECT_EQ(sums[0], sums[1]);
}

TEST(FromOpenmp, declare_reduction) {
    fult::runtime runtime(two_workers());
    const auto map = [](int i) { return std::string(std::size_t(i % 17), 'x'); };
    const auto longest = [](std::string a, std::string b) { return a.size() < b.size() ? b : a; };
    EXPECT_EQ(fult::parallel_reduce(0, n, std::string(), map, longest).size(), 16u);
}

TEST(FromOpenmp, private) {
    fult::runtime runtime(two_workers());
    int x = 5;
    auto task = fult::spawn([x] { return x; });
    x = 6;
    EXPECT_EQ(task.join(), 5);
    EXPECT_EQ(x, 6);
}

TEST(FromOpenmp, shared) {
    fult::runtime runtime(two_workers());
    int x = 5;
    fult::spawn([&x] { ++x; }).join();
    EXPECT_EQ(x, 6);
}

TEST(FromOpenmp, lastprivate) {
    fult::runtime runtime(two_workers());
    int last = 0;
    fult::parallel_for(0, n, [&](int i) {
        if (i == n - 1)
            last = i;
    });
    EXPECT_EQ(last, n - 1);
}

TEST(FromOpenmp, threadprivate) {
    fult::runtime runtime(two_workers());
    std::atomic<int> wrong{0};
    fult::parallel_for(0, n, [&](int i) {
        static thread_local int x;
        x = i;
        wrong += x != i; // nothing in between suspends
    });
    EXPECT_EQ(wrong, 0);
}

TEST(FromOpenmp, critical) {
    fult::runtime runtime(two_workers());
    fult::qlock lock;
    long sum = 0;
    fult::parallel_for(0, n, [&](int i) {
        std::lock_guard guard(lock);
        sum += i;
    });
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, atomic) {
    fult::runtime runtime(two_workers());
    std::atomic<int> count{0};
    fult::parallel_for(0, n, [&](int) { count.fetch_add(1, std::memory_order_relaxed); });
    EXPECT_EQ(count, n);
}

TEST(FromOpenmp, lock) {
    fult::qlock lock;
    lock.lock();
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST(FromOpenmp, nest_lock) {
    struct account {
        static void add_locked(long &sum, const std::lock_guard<fult::qlock> &) { ++sum; }
    };
    fult::qlock lock;
    long sum = 0;
    {
        const std::lock_guard<fult::qlock> guard(lock);
        account::add_locked(sum, guard);
    }
    EXPECT_EQ(sum, 1);
}

TEST(FromOpenmp, barrier) {
    fult::runtime runtime(two_workers());
    std::atomic<int> before{0}, wrong{0};
    fult::barrier<> barrier(4);
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 4; ++i)
        tasks.push_back(fult::spawn([&] {
            ++before;
            barrier.arrive_and_wait();
            wrong += before != 4;
        }));
    fult::join_all(tasks);
    EXPECT_EQ(wrong, 0);
}

TEST(FromOpenmp, single) {
    fult::runtime runtime(two_workers());
    fult::once_flag once;
    int done = 0;
    fult::parallel_for(0, n, [&](int) { fult::call_once(once, [&] { ++done; }); });
    EXPECT_EQ(done, 1);
}

TEST(FromOpenmp, sections) {
    fult::runtime runtime(two_workers());
    int a = 0, b = 0;
    fult::parallel_invoke([&] { a = 1; }, [&] { b = 2; });
    EXPECT_EQ(a + b, 3);
}

TEST(FromOpenmp, ordered) {
    fult::runtime runtime(two_workers());
    fult::channel<int> done(n);
    fult::parallel_for(0, n, [&](int i) { done.send(i); });
    done.close();
    std::vector<int> order;
    while (std::optional<int> next = done.receive())
        order.push_back(*next);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order.size(), std::size_t{n});
    EXPECT_EQ(order.back(), n - 1);
}

TEST(FromOpenmp, task) {
    fult::runtime runtime(two_workers());
    auto task = fult::spawn(f, 41L);
    EXPECT_EQ(task.join(), 42);
}

TEST(FromOpenmp, taskwait) {
    fult::runtime runtime(two_workers());
    std::vector<fult::handle<long>> tasks;
    for (long i = 0; i < 10; ++i)
        tasks.push_back(fult::spawn(f, i));
    fult::join_all(tasks);
    EXPECT_FALSE(tasks[9].valid());
}

TEST(FromOpenmp, task_shared) {
    struct recursion {
        static long fib(int n) {
            if (n < 2)
                return n;
            auto left = fult::spawn(fib, n - 1);
            const long right = fib(n - 2);
            return left.join() + right;
        }
    };
    fult::runtime runtime(two_workers());
    EXPECT_EQ(recursion::fib(15), 610);
}

TEST(FromOpenmp, taskgroup) {
    fult::runtime runtime(two_workers());
    std::atomic<int> leaves{0};
    fult::task_group *spawned_into = nullptr;
    std::function<void(int)> walk = [&](int depth) {
        if (depth == 0)
            ++leaves;
        for (int i = 0; i < 2 && depth > 0; ++i)
            spawned_into->spawn(walk, depth - 1);
    };
    fult::task_group group;
    spawned_into = &group;
    group.spawn(walk, 3);
    group.wait();
    EXPECT_EQ(leaves, 8);
}

TEST(FromOpenmp, cancel) {
    fult::runtime runtime(two_workers());
    fult::task_group group;
    group.spawn([](std::stop_token stop) {
        for (;;) {
            if (stop.stop_requested())
                return;
            fult::this_task::yield();
        }
    });
    group.request_stop();
    group.wait();
    EXPECT_FALSE(group.stop_requested());
}

TEST(FromOpenmp, task_reduction) {
    fult::runtime runtime(two_workers());
    auto a = fult::spawn([] { return 41L; });
    auto b = fult::spawn([] { return 1L; });
    auto [left, right] = fult::join_all(a, b);
    EXPECT_EQ(left + right, 42);
}

TEST(FromOpenmp, taskloop) {
    fult::runtime runtime(two_workers());
    std::atomic<long> sum{0};
    const auto body = [&](int i) { sum += i; };
    fult::parallel_for(0, n, body, {.grain = 16});
    EXPECT_EQ(sum, sum_to_n);
}

TEST(FromOpenmp, taskyield) {
    fult::runtime runtime(two_workers());
    std::atomic<bool> ran{false};
    auto other = fult::spawn_pinned(0, [&ran] {
        ran = true;
        return fult::this_task::worker();
    });
    while (!ran)
        fult::this_task::yield();
    EXPECT_EQ(other.join(), 0u); // as does this task, which has yielded to it
}

TEST(FromOpenmp, depend) {
    fult::runtime runtime(two_workers());
    fult::full_empty<int> x;
    auto reader = fult::spawn([&] { return x.readFF(); });
    x.writeEF(5);
    EXPECT_EQ(reader.join(), 5);
}

TEST(FromOpenmp, if_final) {
    struct recursion {
        static long serial(int n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }
        static long fib(int n) {
            if (n < 20)
                return serial(n);
            auto left = fult::spawn(fib, n - 1);
            const long right = fib(n - 2);
            return left.join() + right;
        }
    };
    fult::runtime runtime(two_workers());
    EXPECT_EQ(recursion::fib(22), 17711);
}

TEST(FromOpenmp, untied) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::spawn(f, 41L).join(), 42);
}

TEST(FromOpenmp, detach) {
    fult::event event;
    fult::runtime runtime(two_workers());
    fult::spawn([&event] { event.set(); }).detach();
    event.wait();
    EXPECT_TRUE(event.is_set());
}

TEST(FromOpenmp, exceptions) {
    fult::runtime runtime(two_workers());
    bool caught = false;
    const auto body = [](int i) {
        if (i == 50)
            throw std::runtime_error("fifty");
    };
    try {
        fult::parallel_for(0, n, body);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    EXPECT_TRUE(caught);
}

TEST(FromOpenmp, flush) {
    fult::runtime runtime(two_workers());
    int data = 0;
    std::atomic<bool> ready{false};
    auto writer = fult::spawn([&] {
        data = 5;
        ready.store(true, std::memory_order_release);
    });
    while (!ready.load(std::memory_order_acquire))
        fult::this_task::yield();
    EXPECT_EQ(data, 5);
    writer.join();
}
} // namespace
