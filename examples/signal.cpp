// A task waits for a value that a thread outside the runtime delivers.
#include <atomic>
#include <cstdio>
#include <thread>

#include <fult/fult.hpp>

int main() {
    fult::runtime runtime;
    std::atomic<int> letter{0};
    auto reader = fult::spawn([&] {
        while (letter.load(std::memory_order_acquire) == 0)
            fult::this_task::wait(); // may return early: call it in a loop
        return letter.load(std::memory_order_relaxed);
    });
    std::thread post([&letter, to = reader.id()] {
        letter.store(42, std::memory_order_release);
        fult::signal(to); // one atomic OR
    });
    post.join();
    const int read = reader.join();
    std::printf("%d\n", read);
    return read == 42 ? 0 : 1;
}
