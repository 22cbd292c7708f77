// Futures: a value or an exception that a task or a thread delivers later.
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

int main() {
    fult::runtime runtime;

    fult::promise<int> width, height;
    fult::future<int> w = width.get_future(), h = height.get_future();
    auto area = fult::spawn([w = std::move(w), h = std::move(h)]() mutable {
        return w.get() * h.get(); // suspends twice
    });
    std::thread outside([promise = std::move(height)]() mutable { promise.set_value(7); });
    width.set_value(6);
    const int found = area.join();
    outside.join();

    fult::promise<int> impossible;
    fult::future<int> answer = impossible.get_future();
    fult::spawn([promise = std::move(impossible)]() mutable {
        promise.set_exception(std::make_exception_ptr(std::domain_error("no such number")));
    }).join();
    bool thrown = false;
    try {
        answer.get();
    } catch (const std::domain_error &error) {
        thrown = true;
        std::printf("%s\n", error.what());
    }
    std::printf("%d\n", found);
    return found == 42 && thrown ? 0 : 1;
}
