// Each object of <fult/sync.hpp> in a few lines, as docs/synchronization.md lists them.
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

namespace {

// Several tasks that run the same function.
void together(int tasks, const std::function<void()> &function) {
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < tasks; ++i)
        all.push_back(fult::spawn([&] { function(); }));
    fult::join_all(all);
}

long with_lock() {
    fult::qlock lock;
    long sum = 0;
    together(4, [&] {
        const std::lock_guard held(lock);
        ++sum;
    });
    return sum; // 4
}

long with_readers() {
    fult::shared_qlock lock;
    long value = 0, seen = 0;
    auto writer = fult::spawn([&] {
        const std::unique_lock held(lock);
        value = 4;
    });
    writer.join();
    const std::shared_lock held(lock); // any number of readers
    seen = value;
    return seen;
}

long with_condition() {
    fult::qlock lock;
    fult::condition_variable changed;
    long ready = 0;
    auto setter = fult::spawn([&] {
        const std::lock_guard held(lock);
        ready = 4;
        changed.notify_all(); // under the lock: the waiter may destroy it
    });
    std::unique_lock held(lock);
    changed.wait(held, [&] { return ready != 0; });
    held.unlock();
    setter.join();
    return ready;
}

long with_semaphore() {
    fult::counting_semaphore<> tickets(2); // two at a time
    fult::qlock lock;
    long served = 0;
    together(4, [&] {
        tickets.acquire();
        {
            const std::lock_guard held(lock);
            ++served;
        }
        tickets.release();
    });
    return served;
}

long with_latch() {
    fult::latch done(4);
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 4; ++i)
        all.push_back(fult::spawn([&] { done.count_down(); }));
    done.wait(); // all four have counted
    fult::join_all(all);
    return 4;
}

long with_barrier() {
    long phases = 0;
    fult::barrier steps(4, [&]() noexcept { ++phases; }); // run by the last one of each phase
    together(4, [&] {
        for (int step = 0; step < 4; ++step)
            steps.arrive_and_wait();
    });
    return phases;
}

long with_event() {
    fult::event opened;
    auto waiter = fult::spawn([&] {
        opened.wait();
        return 4L;
    });
    opened.set();
    return waiter.join();
}

long with_future() {
    fult::promise<long> answer;
    fult::future<long> later = answer.get_future();
    auto solver = fult::spawn([answer = std::move(answer)]() mutable { answer.set_value(4); });
    const long value = later.get();
    solver.join();
    return value;
}

long with_once() {
    fult::once_flag first;
    long calls = 0;
    together(4, [&] { fult::call_once(first, [&] { calls += 4; }); });
    return calls;
}

long with_channel() {
    fult::channel<long> numbers(2); // at most two wait in it
    auto sender = fult::spawn([&] {
        for (long i = 0; i < 4; ++i)
            numbers.send(i);
        numbers.close();
    });
    long count = 0;
    while (const std::optional<long> each = numbers.receive()) // empty once closed and drained
        count += *each >= 0 ? 1 : 0;
    sender.join();
    return count;
}

long with_full_empty() {
    fult::full_empty<long> word; // empty
    auto writer = fult::spawn([&] { word.writeEF(4); });
    const long value = word.readFE(); // waits until it is full, and empties it
    writer.join();
    return value;
}

} // namespace

int main() {
    const fult::runtime runtime;
    for (long (*each)() : {with_lock, with_readers, with_condition, with_semaphore, with_latch, with_barrier,
                           with_event, with_future, with_once, with_channel, with_full_empty})
        if (each() != 4)
            return 1;
    std::puts("each object did its part");
}
