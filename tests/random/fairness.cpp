// A ready task runs although others never stop: they yield, spawn and join, or wait for short times, until
// that task has run. If it never runs, the watchdog ends the program.
#include <fcntl.h>
#include <memory>
#include <sched.h>
#include <unistd.h>

#include <fult/descriptor.hpp>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

using flag = std::shared_ptr<std::atomic<bool>>;
flag lowered() { return std::make_shared<std::atomic<bool>>(false); }
void raise(const flag &f) { f->store(true, std::memory_order_release); } // pairs with is_up
bool is_up(const flag &f) { return f->load(std::memory_order_acquire); } // pairs with raise

void spawn_and_join(actor &a) {
    try {
        check(fult::spawn([] { return 1; }).join() == 1, "a result is wrong");
    } catch (const std::system_error &) { // no slot
        a.pause();
    }
}

void wait_for_a_moment(actor &a) {
    using namespace std::chrono;
    const fult::event never;
    fult::counting_semaphore<1> none(0);
    switch (a.random.below(5)) {
    case 0:
        return check(!never.wait_for(0ns), "an event is set that was never set");
    case 1:
        return check(!none.try_acquire_for(0ns), "an empty semaphore gives something");
    case 2:
        return this_task::sleep_for(1ns); // time: either order is right
    case 3:
        return this_task::sleep_for(microseconds(a.random.between(1, 5))); // time: either order is right
    default:
        // time: either order is right
        return check(!never.wait_until(steady_clock::now() - 1s), "an event is set that was never set");
    }
}

// One of the three, again and again.
void go_on_until(actor &a, const flag &ran) {
    const unsigned how = a.random.below(3);
    while (!is_up(ran))
        how == 0 ? a.pause() : how == 1 ? spawn_and_join(a) : wait_for_a_moment(a);
}

// The task that must run: in the same program, anywhere.
void add_victim(actor &a, const flag &ran) {
    auto victim = spawn_somehow(a, [ran] { raise(ran); });
    victim.valid() ? victim.detach() : raise(ran);
}

} // namespace

// Behind several that yield, all on one worker or anywhere.
void fair_yield(actor &a) {
    const flag ran = lowered();
    const auto yielding = [ran] {
        while (!is_up(ran))
            this_task::yield();
    };
    std::vector<fult::handle<void>> others;
    const bool together = a.random.one_in(2);
    const int worker = some_worker(a.random);
    const bool victim_first = a.random.one_in(2);
    const auto spawn_victim = [&] {
        const auto ticket = a.in.tasks.issue();
        const auto body = [&in = a.in, ticket, ran] {
            in.tasks.runs(ticket);
            raise(ran);
        };
        try {
            (together ? fult::spawn_pinned(worker, body) : fult::spawn_on(worker, body)).detach();
        } catch (const std::system_error &) {
            a.in.tasks.cancel(ticket);
            raise(ran);
        }
    };
    if (victim_first)
        spawn_victim();
    for (unsigned i = a.random.between(1, 4); i > 0; --i)
        try {
            others.emplace_back(together ? fult::spawn_pinned(worker, yielding) : fult::spawn(yielding));
        } catch (const std::system_error &) {
        }
    if (!victim_first) {
        for (unsigned i = a.random.below(20); i > 0; --i)
            a.pause();
        spawn_victim();
    }
    while (!is_up(ran))
        a.pause();
    fult::join_all(others);
}

// Behind a worker that computes: another, which yields all the time, takes it from there.
void fair_to_the_computed(actor &a) {
    if (fult::worker_count() < 2 || !a.in.how.steals || !a.in.may_compute())
        return;
    const flag ran = lowered();
    auto computes = spawn_somehow(a, [ran] {
        try {
            fult::spawn([ran] { raise(ran); }).detach();
        } catch (const std::system_error &) {
            raise(ran);
        }
        while (!is_up(ran))
            ::sched_yield();
    });
    if (!computes.valid())
        raise(ran);
    while (!is_up(ran))
        a.pause();
    if (computes.valid())
        computes.join();
    a.in.computed();
}

void fair_join(actor &a) {
    const flag ran = lowered();
    add_victim(a, ran);
    while (!is_up(ran))
        spawn_and_join(a);
}

void fair_short_waits(actor &a) {
    const flag ran = lowered();
    add_victim(a, ran);
    while (!is_up(ran))
        wait_for_a_moment(a);
}

void fair_to_timers(actor &a) {
    const flag ran = lowered();
    // time: either order is right
    auto sleeper = spawn_somehow(a, [ran, time = std::chrono::microseconds(a.random.below(2000))] {
        this_task::sleep_for(time); // time: either order is right
        raise(ran);
    });
    sleeper.valid() ? sleeper.detach() : raise(ran);
    go_on_until(a, ran);
}

void fair_to_descriptors(actor &a) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    const flag ran = lowered();
    auto reader = spawn_somehow(a, [ran, from = ends[0]] {
        check(fult::wait_readable(from) == fult::descriptor_status::ready,
              "a wait for a pipe has ended otherwise");
        raise(ran);
    });
    if (!reader.valid())
        raise(ran);
    a.pause();
    check(::write(ends[1], "f", 1) == 1, "nothing can be written into an empty pipe");
    go_on_until(a, ran);
    if (reader.valid())
        reader.join();
    fult::close_descriptor(ends[0]);
    fult::close_descriptor(ends[1]);
}

// A thread spawns, and waits for its task.
void fair_to_threads(actor &a) {
    if (!a.in.may_start_thread())
        return;
    const flag ran = lowered();
    std::thread foreign = start_thread([ran, &in = a.in, seed = a.random.next()] {
        actor self{in, draw(seed), 0};
        auto task = spawn_somehow(self, [] { moved(); });
        if (task.valid())
            task.join();
        raise(ran);
    });
    go_on_until(a, ran);
    foreign.join();
    a.in.thread_ended();
}

} // namespace random_programs::perform
