// A user's program under ThreadSanitizer: right, or with a race of its own where it is started with an
// argument.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>
#include <fult/task_group.hpp>
#include <fult/task_local.hpp>

static long planted = 0;

// Two tasks on two workers, at the same time and with nothing between them that orders their accesses.
static void race() {
    std::atomic<int> there{0};
    const auto body = [&] {
        there.fetch_add(1, std::memory_order_relaxed);
        while (there.load(std::memory_order_relaxed) != 2)
            std::this_thread::yield();
        planted = planted + 1;
    };
    auto one = fult::spawn_pinned(0, body);
    auto other = fult::spawn_pinned(1, body);
    one.join();
    other.join();
}

static long fib(long n) {
    if (n < 2)
        return n;
    auto left = fult::spawn([n] { return fib(n - 1); });
    const long right = fib(n - 2);
    return left.join() + right;
}

// What users share: plain data behind joins, locks, channels and the like.
static bool right() {
    bool good = fib(15) == 610;

    long sum = 0;
    fult::qlock lock;
    std::vector<fult::handle<void>> tasks;
    for (int i = 0; i < 100; ++i)
        tasks.push_back(fult::spawn([&] {
            const std::lock_guard guard(lock);
            ++sum;
        }));
    fult::join_all(tasks);
    good = good && sum == 100;

    fult::channel<std::vector<int>> through(2);
    auto producer = fult::spawn([&] {
        for (int i = 0; i < 100; ++i)
            through.send(std::vector<int>(10, i));
        through.close();
    });
    long received = 0;
    while (auto value = through.receive())
        received += value->back();
    producer.join();
    good = good && received == 4950;

    std::vector<int> squares(10000);
    fult::parallel_for(0, 10000, [&](int i) { squares[static_cast<std::size_t>(i)] = i * i; });
    good = good && squares[99] == 9801;

    int results[20] = {};
    fult::task_group group;
    for (int i = 0; i < 20; ++i)
        group.spawn([&results, i] { results[i] = i; });
    group.wait();
    for (int i = 0; i < 20; ++i)
        good = good && results[i] == i;

    int sent = 0, seen = 0;
    fult::event set;
    fult::promise<int> promise;
    auto future = promise.get_future();
    std::thread foreign([&] {
        sent = 5;
        set.set();
        seen = future.get();
    });
    set.wait();
    good = good && sent == 5;
    promise.set_value(7);
    fult::run_blocking([&] { foreign.join(); });
    good = good && seen == 7;

    auto failing = fult::spawn([]() -> int { throw std::runtime_error("expected"); });
    try {
        failing.join();
        good = false;
    } catch (const std::runtime_error &) {
    }
    fult::this_task::sleep_for(std::chrono::milliseconds(1)); // time: either order is right
    return good;
}

int main(int count, char **) {
    fult::options wanted;
    wanted.workers = 2;
    wanted.bind = fult::bind_mode::off;
    const fult::runtime running(wanted);
    const bool good = right();
    if (count > 1)
        race();
    std::puts(good ? "right" : "wrong");
    return good ? 0 : 1;
}
