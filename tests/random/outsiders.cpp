#include "outsiders.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <sched.h>
#include <system_error>

#include <fult/inspect.hpp>

#include "scarcity.hpp"

namespace random_programs {
namespace {

void expect_no_runtime(const std::logic_error &refusal) {
    check(std::strcmp(refusal.what(), "fult: spawn: no runtime is running; start a fult::runtime first") == 0,
          "a spawn beside the life of a runtime is refused with '%s'", refusal.what());
}

// One spawn, by spawn(ticket); false if it is refused: no runtime, or no slot.
template <class Spawn> bool enter(program &in, const Spawn &spawn) {
    const auto ticket = in.tasks.issue();
    try {
        spawn(ticket);
        return true;
    } catch (const std::logic_error &refusal) {
        expect_no_runtime(refusal);
    } catch (const std::system_error &) { // no slot
    }
    in.tasks.cancel(ticket);
    return false;
}

// Starts body() in one of several forms; empty if it was refused. Worker 0 is there in each runtime.
template <class Body> auto spawn_from_outside(actor &a, Body body) {
    fult::handle<std::invoke_result_t<Body>> made;
    enter(a.in, [&](ledger::ticket ticket) {
        auto once = [&in = a.in, ticket, body] {
            in.tasks.runs(ticket);
            return body();
        };
        switch (a.random.below(4)) {
        case 0:
            made = fult::spawn({.name = "of an outsider", .worker = 0}, once);
            break;
        case 1:
            made = fult::spawn_pinned(0, once);
            break;
        default:
            made = fult::spawn(once);
        }
    });
    return made;
}

void joins_one(actor &a) {
    const std::uint64_t number = a.random.next();
    auto task = spawn_from_outside(a, [number] { return number; });
    if (a.random.one_in(3))
        a.pause();
    if (task.valid())
        check(task.join() == number, "an outsider's task has a wrong result");
}

void lets_one_go(actor &a) {
    auto task = spawn_from_outside(a, [yields = a.random.below(4)] {
        for (unsigned i = yields; i > 0; --i)
            this_task::yield();
    });
    if (task.valid())
        task.detach();
}

void waits_for_a_group(actor &a) {
    fult::task_group group;
    std::atomic<unsigned> ran{0};
    unsigned accepted = 0;
    for (unsigned i = a.random.between(1, 4); i > 0; --i)
        accepted += enter(a.in, [&](ledger::ticket ticket) {
            group.spawn([&, ticket] {
                a.in.tasks.runs(ticket);
                ran.fetch_add(1, std::memory_order_relaxed);
            });
        });
    group.wait();
    check(ran == accepted, "%u of an outsider's group of %u have run", ran.load(), accepted);
}

// The task may be the last one of its runtime, which ends as soon as it is woken.
void wakes_one(actor &a) {
    const auto gate = std::make_shared<fult::event>();
    auto task = spawn_from_outside(a, [gate] { gate->wait(); });
    if (!task.valid())
        return;
    for (unsigned i = a.random.below(4); i > 0; --i)
        a.pause();
    if (a.random.one_in(2)) {
        task.detach();
        gate->set();
    } else {
        gate->set();
        task.join();
    }
}

void signals_one(actor &a) {
    std::atomic<bool> granted{false}, signaled{false};
    auto task = spawn_from_outside(a, [&] {
        this_task::wait([&] { return granted.load(std::memory_order_relaxed); });
        while (!signaled.load(std::memory_order_relaxed)) // it lives as long as its id is used
            this_task::yield();
    });
    if (!task.valid())
        return;
    granted.store(true, std::memory_order_relaxed);
    fult::signal(task.id());
    signaled.store(true, std::memory_order_relaxed);
    task.join();
}

void looks(actor &a) {
    switch (a.random.below(3)) {
    case 0:
        check(fult::worker_count() <= 4096, "there are %d workers", fult::worker_count());
        break;
    case 1: {
        std::size_t seen = 0;
        const std::size_t count = fult::visit_tasks([&](const fult::task_description &) { ++seen; });
        check(seen == count, "%zu tasks were visited of %zu", seen, count);
        break;
    }
    default:
        fult::trim();
    }
}

// Calls, until there are enough of them: most at once, some after others have run.
void pass_by(actor &a) {
    constexpr void (*calls[])(actor &) = {joins_one,         joins_one, lets_one_go, lets_one_go,
                                          waits_for_a_group, wakes_one, signals_one, looks};
    for (unsigned left = a.random.between(3, 40); left > 0 && !a.in.tasks.is_full(); --left) {
        calls[a.random.below(std::size(calls))](a);
        for (unsigned i = a.random.one_in(3) ? a.random.below(30) : 0; i > 0; --i)
            a.pause();
        moved();
    }
}

} // namespace

outsiders::outsiders(program &in, std::uint64_t seed) {
    draw random(seed);
    for (unsigned i = random.below(4); i > 0; --i)
        threads_.push_back(start_thread([this, &in, own = random.next()] {
            actor thread{in, draw(own), 0};
            ready_.fetch_add(1, std::memory_order_relaxed);
            while (!gone_.load(std::memory_order_relaxed))
                ::sched_yield();
            pass_by(thread);
        }));
}

outsiders::~outsiders() {
    go();
    for (std::thread &each : threads_)
        each.join();
}

void outsiders::go() noexcept {
    while (ready_.load(std::memory_order_relaxed) != threads_.size())
        ::sched_yield();
    gone_.store(true, std::memory_order_relaxed);
}

} // namespace random_programs
