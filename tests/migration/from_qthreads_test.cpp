// docs/from-qthreads.md, row by row.
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <vector>

#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace {
long f(long x) { return x + 1; }
constexpr long argument = 41;

fult::options two_workers() { return fult::testing::workers(2); }

TEST(FromQthreads, initialize) {
    fult::runtime runtime;
    EXPECT_TRUE(fult::in_task());
}

TEST(FromQthreads, init) {
    fult::options options;
    options.workers = 2;
    fult::runtime runtime(options);
    EXPECT_EQ(fult::worker_count(), 2);
}

TEST(FromQthreads, finalize) {
    std::atomic<bool> done{false};
    {
        fult::runtime runtime(two_workers());
        fult::spawn([&done] { done = true; }).detach();
    } // the runtime ends here
    EXPECT_TRUE(done);
}

TEST(FromQthreads, fork) {
    fult::runtime runtime(two_workers());
    auto task = fult::spawn(f, argument);
    EXPECT_EQ(task.join(), 42);
}

TEST(FromQthreads, fork_unjoined) {
    static std::atomic<long> seen;
    seen = 0;
    {
        fult::runtime runtime(two_workers());
        const auto f = [](long x) { seen = x; };
        fult::spawn(f, argument).detach();
    }
    EXPECT_EQ(seen, argument);
}

TEST(FromQthreads, result) {
    fult::runtime runtime(two_workers());
    auto task = fult::spawn(f, argument);
    long result = task.join();
    EXPECT_EQ(result, 42);
}

TEST(FromQthreads, fork_to) {
    fult::runtime runtime(two_workers());
    const auto f = [](long) { return fult::this_task::worker(); };
    auto task = fult::spawn_pinned(1, f, argument);
    EXPECT_EQ(task.join(), 1u);
}

TEST(FromQthreads, fork_precond) {
    fult::runtime runtime(two_workers());
    fult::full_empty<long> a, b;
    auto task = fult::spawn([&] { return f(a.readFF() + b.readFF()); });
    b.writeF(2);
    a.writeF(1);
    EXPECT_EQ(task.join(), 4);
}

TEST(FromQthreads, fork_syncvar) {
    fult::full_empty<long> ret;
    fult::runtime runtime(two_workers());
    fult::spawn([&] { ret.writeF(f(argument)); }).detach();
    EXPECT_EQ(ret.readFF(), 42);
}

TEST(FromQthreads, flushsc) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::spawn(f, argument).join(), 42);
}

TEST(FromQthreads, yield) {
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

TEST(FromQthreads, tasklocal) {
    fult::runtime runtime(two_workers());
    fult::task_local_ptr<long> mine([](long *value) { delete value; });
    mine.set(new long(5));
    fult::spawn([&] { EXPECT_EQ(mine.get(), nullptr); }).join();
    EXPECT_EQ(*mine.get(), 5);
    delete mine.get(); // this task outlives `mine`, and so ends too late for its destructor
}

TEST(FromQthreads, id) {
    fult::runtime runtime(two_workers());
    fult::task_id me = fult::this_task::id();
    EXPECT_TRUE(me);
    EXPECT_NE(fult::spawn([] { return fult::this_task::id(); }).join(), me);
}

TEST(FromQthreads, num_workers) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::worker_count(), 2);
}

TEST(FromQthreads, worker) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::this_task::worker(), 0);
}

TEST(FromQthreads, incr) {
    std::atomic<long> x{1};
    x.fetch_add(1);
    EXPECT_EQ(x, 2);
}

TEST(FromQthreads, dincr) {
    std::atomic<double> x{1};
    x.fetch_add(0.5);
    EXPECT_EQ(x, 1.5);
}

TEST(FromQthreads, cas) {
    std::atomic<long> x{5};
    long expected = 5;
    EXPECT_TRUE(x.compare_exchange_strong(expected, 7));
    EXPECT_EQ(x, 7);
}

TEST(FromQthreads, aligned_t) {
    fult::full_empty<long> x;
    EXPECT_FALSE(x.is_full());
}

TEST(FromQthreads, syncvar_t) {
    fult::full_empty<long> x(5);
    EXPECT_EQ(x.readFF(), 5);
}

TEST(FromQthreads, empty) {
    fult::full_empty<long> x(5);
    x.purge();
    EXPECT_FALSE(x.is_full());
}

TEST(FromQthreads, fill) {
    fult::full_empty<long> x(5);
    x.purge();
    x.fill();
    EXPECT_TRUE(x.is_full());
}

TEST(FromQthreads, readFF) {
    fult::full_empty<long> x(5);
    long out = x.readFF();
    EXPECT_EQ(out, 5);
    EXPECT_TRUE(x.is_full());
}

TEST(FromQthreads, readFE) {
    fult::full_empty<long> x(5);
    long out = x.readFE();
    EXPECT_EQ(out, 5);
    EXPECT_FALSE(x.is_full());
}

TEST(FromQthreads, writeEF) {
    fult::runtime runtime(two_workers());
    fult::full_empty<long> x(4);
    auto writer = fult::spawn([&] { x.writeEF(5); });
    EXPECT_EQ(x.readFE(), 4);
    writer.join();
    EXPECT_EQ(x.readFF(), 5);
}

TEST(FromQthreads, writeF) {
    fult::full_empty<long> x(4);
    x.writeF(5);
    EXPECT_EQ(x.readFF(), 5);
}

TEST(FromQthreads, feb_status) {
    fult::full_empty<long> x(4);
    EXPECT_TRUE(x.is_full());
}

TEST(FromQthreads, lock) {
    fult::runtime runtime(two_workers());
    fult::qlock lock;
    long sum = 0;
    fult::parallel_for(0, 100, [&](int i) {
        std::lock_guard guard(lock);
        sum += i;
    });
    EXPECT_EQ(sum, 4950);
}

TEST(FromQthreads, barrier_create) {
    fult::runtime runtime(two_workers());
    fult::barrier<> barrier(3);
    std::atomic<int> arrived{0};
    const auto arrive = [&] {
        ++arrived;
        barrier.arrive_and_wait();
        return arrived.load();
    };
    auto first = fult::spawn(arrive), second = fult::spawn(arrive);
    EXPECT_EQ(arrive(), 3);
    EXPECT_EQ(first.join(), 3);
    EXPECT_EQ(second.join(), 3);
}

TEST(FromQthreads, barrier_enter) {
    fult::runtime runtime(two_workers());
    std::atomic<int> before{0}, wrong{0};
    fult::barrier<> barrier(3);
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 3; ++i)
        tasks.push_back(fult::spawn([&] {
            ++before;
            barrier.arrive_and_wait();
            wrong += before != 3;
        }));
    fult::join_all(tasks);
    EXPECT_EQ(wrong, 0);
}

TEST(FromQthreads, barrier_destroy) {
    fult::runtime runtime(two_workers());
    int phases = 0;
    {
        fult::barrier barrier(1, [&]() noexcept { ++phases; });
        barrier.arrive_and_wait();
    } // the barrier ends here
    EXPECT_EQ(phases, 1);
}

TEST(FromQthreads, sinc_init) {
    fult::latch left(4);
    EXPECT_FALSE(left.try_wait());
}

TEST(FromQthreads, sinc_submit) {
    fult::latch left(1);
    std::atomic<long> sum{0};
    const long value = 5;
    sum.fetch_add(value);
    left.count_down();
    EXPECT_TRUE(left.try_wait());
    EXPECT_EQ(sum, 5);
}

TEST(FromQthreads, sinc_wait) {
    std::atomic<long> sum{0};
    fult::latch left(4);
    fult::runtime runtime(two_workers());
    for (long value = 1; value <= 4; ++value)
        fult::spawn([&, value] {
            sum += value;
            left.count_down();
        }).detach();
    left.wait();
    EXPECT_EQ(sum, 10);
}

TEST(FromQthreads, sinc_expect) {
    fult::runtime runtime(two_workers());
    std::vector<fult::handle<long>> tasks;
    tasks.push_back(fult::spawn(f, argument));
    fult::join_all(tasks);
    EXPECT_FALSE(tasks[0].valid());
}

TEST(FromQthreads, loop) {
    fult::runtime runtime(two_workers());
    std::atomic<int> count{0};
    const auto body = [&](int first, int last) { count += last - first; };
    fult::parallel_for_ranges(0, 100, body);
    EXPECT_EQ(count, 100);
}

TEST(FromQthreads, loop_simple) {
    fult::runtime runtime(two_workers());
    std::atomic<int> sum{0};
    const auto body = [&](int i) { sum += i; };
    fult::parallel_for(0, 100, body);
    EXPECT_EQ(sum, 4950);
}

TEST(FromQthreads, loopaccum) {
    fult::runtime runtime(two_workers());
    const auto map = [](int i) { return double(i); };
    EXPECT_EQ(fult::parallel_reduce(0, 100, 0.0, map, std::plus<>()), 4950.0);
}

TEST(FromQthreads, double_sum) {
    fult::runtime runtime(two_workers());
    const std::vector<double> array(100, 0.5);
    EXPECT_EQ(fult::parallel_reduce(array.begin(), array.end(), 0.0, std::identity(), std::plus<>()), 50.0);
}

TEST(FromQthreads, qsort) {
    fult::runtime runtime(two_workers());
    std::vector<int> array{3, 1, 2};
    fult::parallel_sort(array.begin(), array.end());
    EXPECT_EQ(array, (std::vector{1, 2, 3}));
}

TEST(FromQthreads, blocking) {
    fult::runtime runtime(two_workers());
    fult::channel<int> arrived(1);
    const auto read_number = [] { return 5; }; // instead of a system call that blocks
    std::thread outside([&] { arrived.send(read_number()); });
    EXPECT_EQ(arrived.receive(), 5);
    outside.join();
}

TEST(FromQthreads, timer) {
    const auto start = std::chrono::steady_clock::now(); // time: a lower bound
    EXPECT_GE(std::chrono::steady_clock::now(), start);  // time: a lower bound
}
} // namespace
