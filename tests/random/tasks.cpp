// Spawning, joining and letting go, in all forms.
#include <algorithm>
#include <chrono>
#include <memory>

#include <fult/inspect.hpp>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// A child's whole life: its own acts, then its answer, or the exception that was ordered.
std::uint64_t live(program &in, std::uint64_t seed, unsigned budget, bool throws) {
    actor self{in, draw(seed), budget};
    act(self);
    if (throws)
        throw ordered(seed);
    return answer_to(seed);
}

struct one_child {
    std::uint64_t seed;
    bool throws;
    fult::handle<std::uint64_t> task;

    one_child(actor &a, unsigned budget) : seed(a.random.next()), throws(a.random.one_in(6)) {
        task =
            spawn_somehow(a, [&in = a.in, s = seed, budget, t = throws] { return live(in, s, budget, t); });
    }
    void join() {
        if (!task.valid())
            return;
        try {
            const std::uint64_t got = task.join();
            check(!throws, "a child's exception was lost");
            check(got == answer_to(seed), "a child's result is wrong");
        } catch (const ordered &error) {
            check(throws && error.number == seed, "a join has thrown another child's exception");
        }
        check(!task.valid(), "a joined handle is valid");
    }
};

std::size_t depth_of(program &in, unsigned left) {
    if (left == 0)
        return 0;
    const auto ticket = in.tasks.issue();
    decltype(fult::spawn(std::function<std::size_t()>())) next;
    try {
        next = fult::spawn(std::function<std::size_t()>([&in, left, ticket] {
            in.tasks.runs(ticket);
            return depth_of(in, left - 1);
        }));
    } catch (const std::system_error &) {
        in.tasks.cancel(ticket);
        return left;
    }
    return 1 + next.join();
}

} // namespace

void yield(actor &a) {
    for (unsigned i = a.random.between(1, 20); i > 0; --i)
        this_task::yield();
}

void child(actor &a) {
    one_child only(a, a.share(1));
    if (a.random.one_in(2))
        a.pause();
    only.join();
}

void children(actor &a) {
    const unsigned count = std::min(a.random.between(1, 12), a.in.how.most_tasks_at_a_time);
    std::vector<one_child> all;
    for (unsigned i = 0; i < count; ++i)
        all.emplace_back(a, a.share(count - i));
    if (a.random.one_in(2)) {
        std::vector<fult::handle<std::uint64_t>> tasks;
        for (one_child &each : all)
            tasks.push_back(std::move(each.task));
        wait_somehow_for(a, tasks);
        for (unsigned i = 0; i < count; ++i)
            all[i].task = std::move(tasks[i]);
    }
    if (a.random.one_in(2))
        std::reverse(all.begin(), all.end());
    for (one_child &each : all)
        each.join();
}

// The joiner is not the spawner: another task, or a thread.
void child_of_another(actor &a) {
    auto passed_on = std::make_shared<one_child>(a, a.share(1));
    if (a.random.one_in(4) && a.in.may_start_thread()) {
        fult::event joined;
        std::thread joiner = start_thread([&] {
            passed_on->join();
            joined.set();
        });
        joined.wait();
        joiner.join();
        a.in.thread_ended();
        return;
    }
    auto joiner = spawn_somehow(a, [passed_on] { passed_on->join(); });
    if (!joiner.valid())
        passed_on->join();
    else if (a.random.one_in(2))
        joiner.join();
    else
        joiner.detach();
}

void detached(actor &a) {
    const unsigned budget = a.share(1);
    const std::uint64_t seed = a.random.next();
    auto task = spawn_somehow(a, [&in = a.in, seed, budget] { return live(in, seed, budget, false); });
    if (!task.valid())
        return;
    if (a.random.one_in(3)) {
        const auto last_owner = std::move(task); // its end detaches
        return;
    }
    if (a.random.one_in(3))
        a.pause();
    task.detach();
}

// All that a task may return: a reference, something that can only be moved, something large, nothing.
void results(actor &a) {
    const std::uint64_t number = a.random.next();
    std::uint64_t target = 0;
    auto reference = spawn_somehow(a, [&]() -> std::uint64_t & { return target = number, target; });
    auto unique = spawn_somehow(a, [number] { return std::make_unique<std::uint64_t>(number); });
    auto large = spawn_somehow(a, [number] { return std::vector<std::uint64_t>(100, number); });
    auto array = spawn_somehow(a, [number] {
        std::array<std::uint64_t, 64> all{};
        all.fill(number);
        return all;
    });
    auto nothing = spawn_somehow(a, [&a] { a.in.tasks.issued(); });
    if (a.random.one_in(2) && reference.valid() && unique.valid() && large.valid() && array.valid() &&
        nothing.valid()) {
        auto all = fult::join_all(reference, unique, large, array, nothing);
        check(&std::get<0>(all) == &target && target == number && *std::get<1>(all) == number,
              "join_all brings wrong results");
        check(std::get<2>(all).at(99) == number && std::get<3>(all)[63] == number,
              "join_all brings wrong results");
        return;
    }
    if (nothing.valid())
        nothing.join();
    if (reference.valid())
        check(&reference.join() == &target && target == number, "a reference is wrong");
    if (unique.valid())
        check(*unique.join() == number, "a unique_ptr is wrong");
    if (large.valid())
        check(large.join().at(99) == number, "a vector is wrong");
    if (array.valid())
        check(array.join()[63] == number, "an array is wrong");
}

void first_of_several(actor &a) {
    const unsigned count = std::min(a.random.between(1, 8), a.in.how.most_tasks_at_a_time);
    std::vector<fult::handle<unsigned>> tasks;
    for (unsigned i = 0; i < count; ++i)
        tasks.push_back(spawn_somehow(a, [i, pauses = a.random.below(5)] {
            for (unsigned k = 0; k < pauses; ++k)
                this_task::yield();
            return i;
        }));
    std::stop_source stop;
    const bool stopped = a.random.one_in(3);
    if (stopped)
        stop.request_stop();
    try {
        for (unsigned left = count; left > 0; --left) {
            const std::size_t first =
                a.random.one_in(2) ? fult::wait_any(stop.get_token(), tasks) : fult::wait_any(tasks);
            if (first == count)
                break;
            check(first < count && tasks[first].done(), "wait_any names a task that has not ended");
            check(tasks[first].join() == first, "a task's number is wrong");
        }
    } catch (const std::system_error &) {
    }
    for (unsigned i = 0; i < count; ++i)
        if (tasks[i].valid())
            check(tasks[i].join() == i, "a task's number is wrong");
}

void handles(actor &a) {
    fult::event go;
    const std::uint64_t number = a.random.next();
    auto one = spawn_somehow(a, [&go, number] {
        go.wait();
        return number;
    });
    if (!one.valid())
        return;
    check(!one.done() && one.id(), "a task that waits is done, or has no name");
    fult::handle<std::uint64_t> two = std::move(one);
    check(!one.valid() && two.valid(), "a handle was moved, and is not"); // NOLINT(bugprone-use-after-move)
    if (a.random.one_in(2))
        one = std::move(two);
    go.set();
    auto &owner = one.valid() ? one : two;
    while (!owner.done())
        a.pause();
    check(owner.join() == number, "a result is wrong");
}

// A chain of joins, each in place of the one before or suspended below it.
void depth(actor &a) {
    const unsigned levels = std::min(a.random.between(2, 300), a.in.how.most_tasks_at_a_time);
    const std::size_t reached = depth_of(a.in, levels);
    check(reached == levels, "%zu of %u levels of joins", reached, levels);
}

// Many small tasks at once; pauses for computing, so that others take them; trims among them.
void burst(actor &a) {
    const unsigned count = std::min(a.random.between(50, 1500), a.in.how.most_tasks_at_a_time);
    std::vector<fult::handle<unsigned>> tasks;
    tasks.reserve(count);
    const bool computes = a.random.one_in(2), trims = a.random.one_in(2);
    for (unsigned i = 0; i < count; ++i) {
        const auto ticket = a.in.tasks.issue();
        try {
            tasks.emplace_back(fult::spawn([&in = a.in, ticket, i] {
                in.tasks.runs(ticket);
                return i;
            }));
        } catch (const std::system_error &) {
            a.in.tasks.cancel(ticket);
            break;
        }
        if (computes && i % 100 == 99)
            // time: either order is right
            for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
                 std::chrono::steady_clock::now() < end;) { // time: either order is right
            }
        if (trims && i % 256 == 255)
            fult::trim();
    }
    if (a.random.one_in(2))
        wait_somehow_for(a, tasks);
    const bool backwards = a.random.one_in(2);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const std::size_t at = backwards ? tasks.size() - 1 - i : i;
        check(tasks[at].join() == at, "the %zuth of %zu tasks has a wrong result", at, tasks.size());
    }
}

// What is to be refused with an exception, and leaves nothing behind.
void refused(actor &a) {
    const auto throws_one = [](const auto &call) {
        try {
            call();
        } catch (const std::out_of_range &) {
            return true;
        } catch (const std::invalid_argument &) {
            return true;
        } catch (const std::system_error &) { // no slot comes first
            return true;
        } catch (const std::logic_error &) {
            return true;
        }
        return false;
    };
    const auto never = [] { fail("a task runs whose spawn was to be refused"); };
    const int workers = fult::worker_count();
    switch (a.random.below(6)) {
    case 0:
        return check(throws_one([&] { (void)fult::spawn_on(workers, never); }),
                     "a worker too many is accepted");
    case 1:
        return check(throws_one([&] { (void)fult::spawn_pinned(-7, never); }),
                     "spawn_pinned accepts worker -7");
    case 2:
        return check(throws_one([&] { (void)fult::spawn_on(-7, never); }), "spawn_on accepts worker -7");
    case 3:
        return check(throws_one([&] { (void)fult::spawn({.worker = -7}, never); }),
                     "spawn_options accept worker -7");
    case 4:
        return check(throws_one([&] { (void)fult::spawn({.stack_size = std::size_t(2) << 30}, never); }),
                     "a stack of 2 GiB is accepted");
    default:
        return check(throws_one([] { const fult::runtime second(fult::options{}); }),
                     "a second runtime starts beside the first");
    }
}

} // namespace random_programs::perform
