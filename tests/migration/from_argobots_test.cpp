// docs/from-argobots.md, row by row.
#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "tests/support/support.hpp"

namespace {
long f(long x) { return x + 1; }
constexpr long argument = 41;

fult::options two_workers() { return fult::testing::workers(2); }

TEST(FromArgobots, init) {
    fult::runtime runtime;
    EXPECT_TRUE(fult::in_task());
}

TEST(FromArgobots, initialized) {
    EXPECT_FALSE(fult::worker_count() != 0);
    fult::runtime runtime(two_workers());
    EXPECT_TRUE(fult::worker_count() != 0);
}

TEST(FromArgobots, finalize) {
    std::atomic<bool> done{false};
    {
        fult::runtime runtime(two_workers());
        fult::spawn([&done] { done = true; }).detach();
    } // the runtime ends here
    EXPECT_TRUE(done);
}

TEST(FromArgobots, xstream_create) {
    fult::options options;
    options.workers = 2;
    fult::runtime runtime(options);
    EXPECT_EQ(fult::worker_count(), 2);
}

TEST(FromArgobots, xstream_join) {
    { fult::runtime runtime(two_workers()); } // the runtime ends here
    EXPECT_EQ(fult::worker_count(), 0);
}

TEST(FromArgobots, xstream_self) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::this_task::worker(), 0);
}

TEST(FromArgobots, xstream_main_pools) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::spawn_on(1, f, argument).join(), 42);
}

TEST(FromArgobots, main_sched) {
    fult::options options = two_workers();
    options.order = fult::spawn_order::breadth_first;
    options.stealing = false;
    fult::runtime runtime(options);
    EXPECT_EQ(fult::spawn(f, argument).join(), 42);
}

TEST(FromArgobots, own_sched) {
    fult::runtime runtime(two_workers());
    fult::channel<int> queue(1);
    const int work = 5;
    queue.send(work);
    auto next = queue.receive();
    EXPECT_EQ(next, 5);
}

TEST(FromArgobots, own_pool) {
    fult::channel<std::function<void()>> queue(16);
    EXPECT_TRUE(queue.try_send([] {}));
}

TEST(FromArgobots, self_schedule) {
    fult::runtime runtime(two_workers());
    fult::channel<std::function<void()>> queue(16);
    int ran = 0;
    queue.send([&ran] { ++ran; });
    queue.close();
    while (auto next = queue.receive())
        (*next)();
    EXPECT_EQ(ran, 1);
}

TEST(FromArgobots, thread_create) {
    fult::runtime runtime(two_workers());
    auto thread = fult::spawn(f, argument);
    EXPECT_EQ(thread.join(), 42);
}

TEST(FromArgobots, thread_create_unnamed) {
    static std::atomic<long> seen;
    seen = 0;
    {
        fult::runtime runtime(two_workers());
        const auto f = [](long x) { seen = x; };
        fult::spawn(f, argument).detach();
    }
    EXPECT_EQ(seen, argument);
}

TEST(FromArgobots, thread_create_to) {
    fult::runtime runtime(two_workers());
    std::atomic<int> ran{0};
    const auto f = [&ran](long) { ++ran; };
    auto thread = fult::spawn(f, argument);
    thread.join();
    EXPECT_EQ(ran, 1);
}

TEST(FromArgobots, thread_attr) {
    fult::runtime runtime(two_workers());
    EXPECT_EQ(fult::spawn({.name = "big", .stack_size = 1024 * 1024}, f, argument).join(), 42);
}

TEST(FromArgobots, thread_join) {
    fult::runtime runtime(two_workers());
    auto thread = fult::spawn(f, argument);
    long result = thread.join();
    EXPECT_EQ(result, 42);
}

TEST(FromArgobots, thread_join_many) {
    fult::runtime runtime(two_workers());
    std::vector<fult::handle<long>> threads;
    for (long i = 0; i < 10; ++i)
        threads.push_back(fult::spawn(f, i));
    fult::join_all(threads);
    EXPECT_FALSE(threads[9].valid());
}

TEST(FromArgobots, thread_revive) {
    fult::runtime runtime(two_workers());
    fult::handle<long> thread = fult::spawn(f, 1L);
    EXPECT_EQ(thread.join(), 2);
    thread = fult::spawn(f, argument);
    EXPECT_EQ(thread.join(), 42);
}

TEST(FromArgobots, thread_yield) {
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

TEST(FromArgobots, thread_self) {
    fult::runtime runtime(two_workers());
    fult::task_id me = fult::this_task::id();
    EXPECT_TRUE(me);
}

TEST(FromArgobots, thread_state) {
    fult::runtime runtime(two_workers());
    auto thread = fult::spawn(f, argument);
    fult::wait_all(thread);
    EXPECT_TRUE(thread.done());
    EXPECT_EQ(thread.join(), 42);
}

TEST(FromArgobots, thread_last_pool) {
    fult::runtime runtime(two_workers());
    const auto f = [](long) { return fult::this_task::worker(); };
    EXPECT_EQ(fult::spawn_pinned(1, f, argument).join(), 1u);
}

TEST(FromArgobots, suspend) {
    fult::runtime runtime(two_workers());
    std::atomic<bool> ready{false};
    auto task = fult::spawn([&ready] {
        while (!ready)
            fult::this_task::wait();
        return ready.load();
    });
    const fult::task_id waiter = task.id();
    ready = true;
    fult::signal(waiter);
    EXPECT_TRUE(task.join());
}

TEST(FromArgobots, task_create) {
    fult::runtime runtime(two_workers());
    auto task = fult::spawn(f, argument);
    EXPECT_EQ(task.join(), 42);
}

TEST(FromArgobots, task_join) {
    fult::runtime runtime(two_workers());
    auto task = fult::spawn(f, argument);
    task.join();
    EXPECT_FALSE(task.valid());
}

TEST(FromArgobots, mutex_create) {
    fult::qlock mutex;
    mutex.lock();
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST(FromArgobots, mutex_lock) {
    fult::qlock mutex;
    std::lock_guard guard(mutex);
    EXPECT_FALSE(mutex.try_lock());
}

TEST(FromArgobots, mutex_trylock) {
    fult::qlock mutex;
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST(FromArgobots, spinlock) {
    fult::spinlock lock;
    std::lock_guard guard(lock);
    EXPECT_FALSE(lock.try_lock());
}

TEST(FromArgobots, rwlock) {
    fult::shared_qlock lock;
    std::shared_lock reading(lock);
    EXPECT_TRUE(lock.try_lock_shared());
    lock.unlock_shared();
}

TEST(FromArgobots, cond_create) {
    fult::condition_variable cond;
    cond.notify_one(); // no task waits: a notification is not kept
    fult::qlock mutex;
    std::unique_lock guard(mutex);
    // time: a lower bound
    EXPECT_FALSE(cond.wait_for(guard, std::chrono::milliseconds(1), [] { return false; }));
}

TEST(FromArgobots, cond_wait) {
    fult::runtime runtime(two_workers());
    fult::qlock mutex;
    fult::condition_variable cond;
    bool ready = false;
    auto waiter = fult::spawn([&] {
        std::unique_lock guard(mutex);
        cond.wait(guard, [&] { return ready; });
        return ready;
    });
    {
        std::lock_guard guard(mutex);
        ready = true;
    }
    cond.notify_one();
    EXPECT_TRUE(waiter.join());
}

TEST(FromArgobots, cond_broadcast) {
    fult::runtime runtime(two_workers());
    fult::qlock mutex;
    fult::condition_variable cond;
    bool ready = false;
    int woken = 0;
    std::vector<fult::handle<void>> waiters;
    for (int i = 0; i < 5; ++i)
        waiters.push_back(fult::spawn([&] {
            std::unique_lock guard(mutex);
            cond.wait(guard, [&] { return ready; });
            ++woken;
        }));
    {
        std::lock_guard guard(mutex);
        ready = true;
    }
    cond.notify_all();
    fult::join_all(waiters);
    EXPECT_EQ(woken, 5);
}

TEST(FromArgobots, barrier_create) {
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

TEST(FromArgobots, barrier_wait) {
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

TEST(FromArgobots, future_create) {
    fult::latch future(2);
    EXPECT_FALSE(future.try_wait());
}

TEST(FromArgobots, future_set) {
    fult::latch future(1);
    future.count_down();
    EXPECT_TRUE(future.try_wait());
}

TEST(FromArgobots, future_wait) {
    fult::latch future(2);
    int values[2] = {};
    fult::runtime runtime(two_workers());
    for (int i = 0; i < 2; ++i)
        fult::spawn([&, i] {
            values[i] = i + 1;
            future.count_down();
        }).detach();
    future.wait();
    EXPECT_EQ(values[0] + values[1], 3);
}

TEST(FromArgobots, future_reset) {
    std::optional<fult::latch> future;
    future.emplace(2);
    future->count_down(2);
    future.emplace(2);
    EXPECT_FALSE(future->try_wait());
}

TEST(FromArgobots, eventual_create) {
    fult::promise<int> eventual;
    auto value = eventual.get_future();
    EXPECT_FALSE(value.ready());
}

TEST(FromArgobots, eventual_set) {
    fult::promise<int> eventual;
    auto value = eventual.get_future();
    eventual.set_value(5);
    EXPECT_TRUE(value.ready());
}

TEST(FromArgobots, eventual_wait) {
    fult::runtime runtime(two_workers());
    fult::promise<int> eventual;
    auto value = eventual.get_future();
    auto setter = fult::spawn([&] { eventual.set_value(5); });
    EXPECT_EQ(value.get(), 5);
    setter.join();
}

TEST(FromArgobots, key) {
    fult::runtime runtime(two_workers());
    fult::task_local_ptr<int> key([](int *value) { delete value; });
    EXPECT_EQ(key.get(), nullptr);
}

TEST(FromArgobots, key_set) {
    fult::runtime runtime(two_workers());
    fult::task_local_ptr<int> key([](int *value) { delete value; });
    fult::spawn([&] {
        key.set(new int(5));
        fult::this_task::yield();
        EXPECT_EQ(*key.get(), 5);
    }).join();
    EXPECT_EQ(key.get(), nullptr);
}

TEST(FromArgobots, get_wtime) {
    const auto start = std::chrono::steady_clock::now(); // time: a lower bound
    EXPECT_GE(std::chrono::steady_clock::now(), start);  // time: a lower bound
}
} // namespace
