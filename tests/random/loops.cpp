// Parallel loops.
#include <algorithm>
#include <numeric>

#include <fult/loops.hpp>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

fult::loop_options drawn_schedule(draw &random) {
    return {.schedule = random.one_of({fult::schedule::lazy, fult::schedule::guided, fult::schedule::fixed}),
            .grain = random.one_in(2) ? 0 : static_cast<std::ptrdiff_t>(random.between(1, 50)),
            .ordered = random.one_in(3)};
}

// A foreign thread's loop is a task, for which there may be no slot.
template <class Loop> bool run_if_possible(const Loop &loop) {
    try {
        loop();
        return true;
    } catch (const std::system_error &) {
        return false;
    }
}

} // namespace

void loop(actor &a) {
    const unsigned count = a.random.below(600);
    std::vector<std::atomic<unsigned char>> visits(count);
    const bool pauses = a.random.one_in(4);
    const auto options = drawn_schedule(a.random);
    const bool in_ranges = a.random.one_in(2);
    const bool ran = run_if_possible([&] {
        const auto visit = [&](unsigned i) {
            visits[i].fetch_add(1, std::memory_order_relaxed);
            if (pauses && i % 64 == 0)
                this_task::yield();
        };
        if (in_ranges)
            fult::parallel_for_ranges(
                0u, count,
                [&](unsigned from, unsigned to) {
                    for (; from != to; ++from)
                        visit(from);
                },
                options);
        else
            fult::parallel_for(0u, count, visit, options);
    });
    for (unsigned i = 0; ran && i < count; ++i)
        check(visits[i].load() == 1, "index %u of %u was visited %u times", i, count, unsigned(visits[i]));
}

void grid(actor &a) {
    const unsigned nx = a.random.below(12), ny = a.random.below(12), nz = a.random.below(6);
    std::atomic<unsigned> two{0}, three{0};
    const auto options = drawn_schedule(a.random);
    if (!run_if_possible([&] {
            fult::parallel_for(
                fult::extent(nx, ny), [&](auto, auto) { ++two; }, options);
            fult::parallel_for(
                fult::extent(nx, ny, nz), [&](auto, auto, auto) { ++three; }, options);
        }))
        return;
    check(two.load() == nx * ny && three.load() == nx * ny * nz, "a grid of %u points was visited at %u",
          nx * ny, two.load());
}

void reduce(actor &a) {
    const std::uint64_t count = a.random.below(2000);
    std::uint64_t sum = 0;
    const auto options = drawn_schedule(a.random);
    if (run_if_possible([&] {
            sum = fult::parallel_reduce(
                std::uint64_t(0), count, std::uint64_t(0), [](std::uint64_t i) { return i * i; },
                [](std::uint64_t x, std::uint64_t y) { return x + y; }, options);
        }))
        check(count == 0 ? sum == 0 : sum == (count - 1) * count * (2 * count - 1) / 6, "a sum is wrong");
}

void invoke(actor &) {
    std::atomic<unsigned> calls{0};
    const auto call = [&] {
        if (calls.fetch_add(1) % 2 == 0)
            this_task::yield();
    };
    if (run_if_possible([&] { fult::parallel_invoke(call, call, call, call, call); }))
        check(calls.load() == 5, "%u of 5 functions were called", calls.load());
}

void sort(actor &a) {
    std::vector<std::uint64_t> values(a.random.below(5000));
    for (auto &each : values)
        each = a.random.one_in(2) ? a.random.below(100) : a.random.next();
    std::vector<std::uint64_t> expected = values;
    std::sort(expected.begin(), expected.end());
    if (run_if_possible([&] { fult::parallel_sort(values.begin(), values.end()); }))
        check(values == expected, "%zu values are not sorted", values.size());
}

void failing_loop(actor &a) {
    const unsigned count = a.random.between(1, 300), failing = a.random.below(count);
    const auto options = drawn_schedule(a.random);
    try {
        const bool ran = run_if_possible([&] {
            fult::parallel_for(
                0u, count,
                [failing](unsigned i) {
                    if (i == failing)
                        throw ordered(i);
                },
                options);
        });
        check(!ran, "a loop has lost an exception");
    } catch (const ordered &error) {
        check(error.number == failing, "a loop brings a wrong exception");
    }
}

} // namespace random_programs::perform
