// Everything that takes memory, again and again: the resident size must stay flat.
//
// usage: soak --seconds SECONDS   what is resident at a time is judged; an hour by hand: soak --seconds 3600
//        soak --rounds ROUNDS     so often; then it waits until no more is resident than at first, and never
//                                 ends if memory is lost
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/descriptor.hpp>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

#include "tests/support/scale.hpp"

namespace {

using clock = std::chrono::steady_clock;
using fult::spawn;
namespace this_task = fult::this_task;

std::size_t resident_kib() {
    std::size_t all = 0, pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%zu %zu", &all, &pages) != 2)
            pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

[[noreturn]] void fail(const char *what) {
    std::fprintf(stderr, "soak: %s\n", what);
    std::exit(1);
}

std::size_t fib(std::size_t n) {
    if (n < 2)
        return n;
    auto one = spawn([n] { return fib(n - 1); });
    const std::size_t other = fib(n - 2);
    return one.join() + other;
}

// Many that wait at once, some with names and stacks of their own.
void crowd(std::size_t count) {
    fult::event open;
    std::atomic<std::size_t> through{0};
    std::vector<fult::handle<void>> all;
    for (std::size_t i = 0; i < count; ++i) {
        const auto body = [&] {
            open.wait();
            through.fetch_add(1, std::memory_order_relaxed);
        };
        if (i % 50 == 0)
            all.push_back(spawn({.name = "large", .stack_size = 512 * 1024}, body));
        else if (i % 7 == 0)
            all.push_back(spawn({.name = "a name that is too long for the string itself to hold"}, body));
        else
            all.push_back(spawn(body));
    }
    for (int i = 0; i < 4; ++i)
        this_task::yield();
    open.set();
    fult::join_all(all);
    if (through != count)
        fail("a task of the crowd was lost");
}

void unstarted(std::size_t count) {
    std::vector<fult::handle<std::string>> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([] { return std::string(100, 'x'); }));
    for (auto &each : all)
        if (each.join().size() != 100)
            fail("a result was lost");
}

void exceptions(std::size_t count) {
    std::size_t caught = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto thrower = spawn([] { throw std::runtime_error("as ordered"); });
        if (i % 2 == 0)
            this_task::yield();
        try {
            thrower.join();
        } catch (const std::runtime_error &) {
            ++caught;
        }
    }
    if (caught != count)
        fail("an exception was lost");
}

void detached(std::size_t count) {
    fult::latch all(static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i)
        spawn([&] { all.count_down(); }).detach();
    all.wait();
}

void from_outside(std::size_t count) {
    std::thread foreign([count] {
        for (std::size_t i = 0; i < count; ++i)
            if (spawn([i] { return i; }).join() != i)
                fail("a foreign thread's task was lost");
    });
    fult::run_blocking([&] { foreign.join(); }); // this worker may be the only one
}

void pipeline(int count) {
    fult::channel<int> channel(8);
    auto producer = spawn([&] {
        for (int i = 0; i < count; ++i)
            (void)channel.send(i);
        channel.close();
    });
    int next = 0;
    while (auto got = channel.receive())
        if (*got != next++)
            fail("a value was lost");
    producer.join();
}

// Every other group is stopped by an exception.
void groups(std::size_t count) {
    for (std::size_t i = 0; i < count / 20; ++i) {
        fult::task_group group;
        std::atomic<std::size_t> run{0};
        for (std::size_t k = 0; k < 20; ++k)
            group.spawn([&, k](const std::stop_token &stop) {
                run.fetch_add(1, std::memory_order_relaxed);
                if (i % 2 == 0)
                    return;
                if (k == 10)
                    throw std::runtime_error("as ordered");
                this_task::sleep_for(stop, std::chrono::hours(1));
            });
        bool caught = false;
        try {
            group.wait();
        } catch (const std::runtime_error &) {
            caught = true;
        }
        if (caught != (i % 2 == 1) || (!caught && run != 20))
            fail("a group lost a task or an exception");
    }
}

// Timers that fire, and more that a signal comes before.
void timers(std::size_t count) {
    std::vector<fult::handle<bool>> sleepers, signaled;
    fult::event open;
    for (std::size_t i = 0; i < count; ++i) {
        sleepers.push_back(spawn([i] {
            this_task::sleep_for(std::chrono::microseconds(i % 2000));
            return true;
        }));
        signaled.push_back(spawn([&] { return open.wait_for(std::chrono::hours(1)); }));
    }
    for (auto &each : sleepers)
        each.join();
    open.set();
    for (auto &each : signaled)
        if (!each.join())
            fail("a signal was taken for a timer");
}

// Tasks on both ends of pipes, and a few calls on threads of their own.
void system_calls(std::size_t count) {
    for (std::size_t i = 0; i < count / 20; ++i) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
            fail("no pipe");
        auto reader = spawn([&] {
            char got = 0;
            if (fult::wait_readable(ends[0]) != fult::descriptor_status::ready ||
                ::read(ends[0], &got, 1) != 1)
                return 'x';
            return got;
        });
        this_task::yield();
        const auto written = fult::run_blocking([&] { return ::write(ends[1], "f", 1); });
        if (written != 1 || reader.join() != 'f')
            fail("a byte was lost");
        fult::close_descriptor(ends[0]);
        fult::close_descriptor(ends[1]);
    }
}

// Values that end with their tasks, of variables that come and go.
void locals(std::size_t count) {
    const fult::task_local_ptr<std::string> variable([](std::string *value) { delete value; });
    std::vector<fult::handle<std::size_t>> all;
    for (std::size_t i = 0; i < count; ++i)
        all.push_back(spawn([&, i] {
            variable.set(new std::string(i % 100, 'x'));
            this_task::yield();
            return variable.get()->size();
        }));
    for (std::size_t i = 0; i < count; ++i)
        if (all[i].join() != i % 100)
            fail("a task's own value was lost");
}

void once() {
    const std::size_t few = fult::testing::scaled(1000);
    if (fib(14) != 377)
        fail("fib is wrong");
    crowd(3 * few);
    unstarted(50 * few);
    exceptions(few);
    detached(5 * few);
    from_outside(few / 5 + 1);
    pipeline(static_cast<int>(few));
    groups(few);
    timers(few);
    system_calls(few);
    locals(few);
}

// What may be resident where `early` was.
std::size_t most_of(std::size_t early) { return early + 8 * 1024 + early / 20; }

// Workers trim their own parts, each when it is its turn: the size is waited for.
void for_rounds(std::size_t rounds) {
    std::size_t early = 0;
    for (std::size_t i = 0; i < rounds; ++i) {
        once();
        fult::trim();
        this_task::yield();
        if (i < rounds / 2)
            early = std::max(early, resident_kib());
    }
    std::printf("%zu rounds: %zu KiB resident at most in the first half, %zu KiB now", rounds, early,
                resident_kib());
    if (!fult::testing::sanitized && !fult::testing::under_valgrind()) {
        std::printf("; waiting for %zu KiB\n", most_of(early));
        std::fflush(stdout);
        while (resident_kib() > most_of(early)) {
            fult::trim();
            this_task::sleep_for(std::chrono::milliseconds(1)); // time: between polls
        }
    }
    std::printf("done\n");
}

// The first quarter warms up; then what is resident after each round, in the second quarter and in the last.
void for_time(std::chrono::duration<double> seconds) {
    const auto start = clock::now();
    std::size_t early = 0, late = 0, rounds = 0;
    for (double done = 0; done < 1 || early == 0 || late == 0; ++rounds) {
        once();
        fult::trim();
        this_task::yield();
        done = (clock::now() - start) / seconds;
        const std::size_t now = resident_kib();
        if (done >= 0.25 && (done < 0.5 || early == 0))
            early = std::max(early, now);
        else if (done >= 0.75)
            late = std::max(late, now);
    }
    std::printf("%zu rounds: %zu KiB resident at most in the second quarter, %zu KiB in the last\n", rounds,
                early, late);
    if (!fult::testing::sanitized && !fult::testing::under_valgrind() && late > most_of(early))
        fail("the resident size grows");
}

} // namespace

int main(int count, char **arguments) {
    fult::options options = fult::read_options();
    options.bind = fult::bind_mode::off;
    options.trim_after = 50; // often, in a short test
    const std::string_view how = count == 3 ? arguments[1] : "";
    const fult::runtime running(options);
    if (how == "--rounds")
        for_rounds(std::strtoul(arguments[2], nullptr, 10));
    else if (how == "--seconds")
        for_time(std::chrono::duration<double>(std::atof(arguments[2])));
    else
        fail("usage: soak --rounds ROUNDS, or soak --seconds SECONDS");
    return 0;
}
