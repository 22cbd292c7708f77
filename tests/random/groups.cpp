// Task groups: stopped, failing, nested, filled by others than their maker, and outliving it.
#include <algorithm>
#include <memory>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// A group with the number of its tasks that were added and that have run.
struct counted_group {
    program &in;
    std::atomic<unsigned> added{0}, run{0};
    fult::task_group tasks; // ends first

    explicit counted_group(program &p) : in(p) {}
    counted_group(program &p, const std::stop_token &parent) : in(p), tasks(parent) {}

    // A member that calls body(stop token). Does nothing if no slot is free.
    template <class Body> void add(draw &random, bool may_drop, Body body) {
        const auto ticket = in.tasks.issue(may_drop);
        auto member = [this, ticket, body = std::move(body)](const std::stop_token &stop) {
            in.tasks.runs(ticket);
            run.fetch_add(1, std::memory_order_relaxed);
            body(stop);
        };
        added.fetch_add(1, std::memory_order_relaxed);
        try {
            switch (random.below(4)) {
            case 0: {
                const drawn_options with(random);
                tasks.spawn(with.options, std::move(member));
                break;
            }
            case 1: // takes no token
                tasks.spawn([member = std::move(member)]() mutable { member(std::stop_token()); });
                break;
            default:
                tasks.spawn(std::move(member));
            }
        } catch (const std::system_error &) {
            in.tasks.cancel(ticket);
            added.fetch_sub(1, std::memory_order_relaxed);
        }
    }

    // Members that yield, and add more themselves.
    void fill(draw &random, unsigned count, unsigned levels) {
        for (unsigned i = 0; i < count; ++i) {
            const std::uint64_t seed = random.next();
            add(random, false, [this, seed, levels](const std::stop_token &) {
                draw mine(seed);
                for (unsigned k = mine.below(3); k > 0; --k)
                    this_task::yield();
                if (levels > 0 && mine.one_in(3))
                    fill(mine, mine.between(1, 3), levels - 1);
                moved();
            });
        }
    }

    void wait() {
        tasks.wait();
        check(run.load() == added.load(), "a group's wait has returned after %u of %u tasks", run.load(),
              added.load());
    }
};

unsigned members(actor &a, unsigned most) {
    return std::min(a.random.between(1, most), a.in.how.most_tasks_at_a_time);
}

} // namespace

void group(actor &a) {
    counted_group all(a.in);
    for (unsigned rounds = a.random.between(1, 3); rounds > 0; --rounds) {
        all.fill(a.random, members(a, a.random.one_in(8) ? 400 : 12), 2);
        if (a.random.one_in(3))
            a.pause();
        if (rounds > 1 || a.random.one_in(2))
            all.wait();
    }
}

// The first exception stops the rest and arrives at the wait.
void failing_group(actor &a) {
    counted_group all(a.in);
    const unsigned count = members(a, 12), failing = a.random.below(count);
    bool added = false;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned before = all.added.load();
        all.add(a.random, true, [i, failing, sleeps = a.random.one_in(3)](const std::stop_token &stop) {
            if (i == failing)
                throw ordered(failing);
            if (sleeps && stop.stop_possible())
                this_task::sleep_for(stop, std::chrono::hours(1)); // time: given, never reached
        });
        added |= i == failing && all.added.load() > before;
    }
    if (!added)
        all.tasks.request_stop();
    try {
        all.tasks.wait();
        check(!added, "a group has lost an exception");
    } catch (const ordered &error) {
        check(added && error.number == failing, "a group brings a wrong exception");
    }
    check(!all.tasks.stop_requested(), "a group is stopped after its wait");
    all.added = all.run = 0;
    all.fill(a.random, 3, 0);
    all.wait();
}

void stopped_group(actor &a) {
    counted_group all(a.in);
    fult::event never;
    const unsigned count = members(a, 12);
    for (unsigned i = 0; i < count; ++i)
        all.add(a.random, true, [&never, how = a.random.below(4)](const std::stop_token &stop) {
            if (!stop.stop_possible())
                return;
            if (how == 0)
                this_task::wait(stop, [] { return false; });
            else if (how == 1)
                check(!never.wait(stop), "an event is set that was never set");
            else if (how == 2)
                while (!stop.stop_requested())
                    this_task::yield();
        });
    if (a.random.one_in(2))
        a.pause();
    if (a.random.one_in(3)) { // by another task
        auto stopper = spawn_somehow(a, [&all] { all.tasks.request_stop(); });
        if (!stopper.valid())
            all.tasks.request_stop();
        all.tasks.wait();
        if (stopper.valid())
            stopper.join(); // it may still be inside of the group
        return;
    }
    all.tasks.request_stop();
    if (a.random.one_in(2))
        all.tasks.wait();
    else if (a.random.one_in(2))
        try { // an exception passes through the group's end
            counted_group passed(a.in);
            passed.add(a.random, true, [](const std::stop_token &stop) {
                if (stop.stop_possible())
                    this_task::wait(stop, [] { return false; });
            });
            throw ordered(0);
        } catch (const ordered &) {
        }
}

void nested_groups(actor &a) {
    counted_group outer(a.in);
    for (unsigned i = members(a, 4); i > 0; --i) {
        const std::uint64_t seed = a.random.next();
        outer.add(a.random, false, [&in = a.in, seed](const std::stop_token &stop) {
            draw mine(seed);
            counted_group inner(in, stop);
            inner.fill(mine, mine.between(1, 6), 1);
            inner.wait();
        });
    }
    outer.wait();
    std::stop_source parent;
    counted_group child(a.in, parent.get_token());
    for (unsigned i = members(a, 4); i > 0; --i)
        child.add(a.random, true, [](const std::stop_token &stop) {
            if (stop.stop_possible())
                this_task::wait(stop, [] { return false; });
        });
    parent.request_stop();
    child.tasks.wait();
}

// A task makes the group and ends; others use it further, one perhaps in the maker's slot.
void orphan_group(actor &a) {
    const std::uint64_t seed = a.random.next();
    const bool filled = a.random.one_in(2);
    auto maker = spawn_somehow(a, [&in = a.in, seed, filled] {
        draw mine(seed);
        auto made = std::make_unique<counted_group>(in);
        if (filled)
            made->fill(mine, mine.between(1, 6), 1);
        return made;
    });
    if (!maker.valid())
        return;
    const std::shared_ptr<counted_group> left = maker.join();
    const auto go_on = [left](std::uint64_t s, bool waits) {
        draw mine(s);
        left->fill(mine, mine.between(1, 8), 1);
        if (waits)
            left->wait();
    };
    // One after the other: while a wait runs, only members may add to it.
    for (unsigned i = a.random.between(1, 4); i > 0; --i) {
        auto heir = spawn_somehow(a, [go_on, s = a.random.next(), w = a.random.one_in(2)] { go_on(s, w); });
        if (heir.valid())
            heir.join();
    }
    left->wait();
}

// Several add to a group, then its maker waits.
void shared_group(actor &a) {
    counted_group all(a.in);
    actor_group fillers(a, a.random.between(1, 5),
                        [&](actor &self, unsigned) { all.fill(self.random, self.random.between(1, 5), 1); });
    fillers.join();
    all.wait();
}

} // namespace random_programs::perform
