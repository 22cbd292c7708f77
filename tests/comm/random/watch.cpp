#include "tests/comm/random/watch.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fult/detail/stillness.hpp>
#include <fult/inspect.hpp>

namespace fult::comm::testing {

watch::watch(std::string program, unsigned seconds) : program_(std::move(program)), seconds_(seconds) {
    if (seconds_ != 0)
        thread_ = std::thread([this] {
            fult::detail::know_thread(::gettid()); // it wakes no task: deadlocks would be found
            look();
            fult::detail::forget_thread(::gettid());
        });
}

watch::~watch() {
    over_.store(true, std::memory_order_relaxed);
    if (thread_.joinable())
        thread_.join();
}

void watch::describe(std::string program) {
    const std::lock_guard guard(lock_);
    program_ = std::move(program);
}

activity *watch::enter(std::string name) {
    const std::lock_guard guard(lock_);
    active_.emplace_back().name = std::move(name);
    return &active_.back();
}

void watch::leave(activity *what) {
    const std::lock_guard guard(lock_);
    active_.remove_if([what](const activity &each) { return &each == what; });
    steps_.fetch_add(1, std::memory_order_relaxed);
}

void watch::print_activities() {
    const std::lock_guard guard(lock_);
    std::fprintf(stderr, "  %s\n", program_.c_str());
    for (const activity &each : active_)
        std::fprintf(stderr, "  %s: %s, step %llu\n", each.name.c_str(),
                     each.call.load(std::memory_order_relaxed),
                     static_cast<unsigned long long>(each.step.load(std::memory_order_relaxed)));
}

void watch::fail(const std::string &what) {
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    print_activities();
    std::fflush(nullptr);
    std::_Exit(41);
}

void watch::look() {
    constexpr auto now = &std::chrono::steady_clock::now; // time: given, never reached
    const std::chrono::seconds limit(seconds_);           // time: given, never reached
    std::uint64_t seen = 0;
    auto since = now();
    while (!over_.load(std::memory_order_relaxed)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // time: between polls
        const std::uint64_t made = steps_.load(std::memory_order_relaxed);
        if (made != seen) {
            seen = made;
            since = now();
        } else if (now() - since > limit) {
            std::fprintf(stderr, "HANGS: nothing has moved for %u s\n", seconds_);
            print_activities();
            std::fflush(nullptr);
            fult::dump_tasks();
            std::fflush(nullptr);
            std::_Exit(42);
        }
    }
}

} // namespace fult::comm::testing
