// Spawning in a form that the seed chooses, and crews: several tasks and threads that do something together.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "program.hpp"
#include "scarcity.hpp"

namespace random_programs {

inline int some_worker(draw &random) {
    return static_cast<int>(random.below(static_cast<unsigned>(fult::worker_count())));
}

// Options that any task may have: a home, a name, a stack.
struct drawn_options {
    std::string name;
    fult::spawn_options options;

    explicit drawn_options(draw &random) {
        if (random.one_in(2))
            name = random.one_in(2) ? "short" : "a name that is too long for the string itself to hold";
        options.name = name;
        options.stack_size = random.one_in(3) ? random.between(1, 40) * 16 * 1024 : 0;
        if (options.stack_size < smallest_stack)
            options.stack_size = 0;
        options.worker = random.one_in(2) ? -1 : some_worker(random);
        options.pinned = options.worker >= 0 && random.one_in(2);
        options.inherit_locals = random.one_in(4);
    }
    drawn_options(const drawn_options &) = delete;
    drawn_options &operator=(const drawn_options &) = delete;

    static constexpr std::size_t smallest_stack = 128 * 1024; // acts print, and run each other in place
};

// Starts body() as a task. Empty if no slot is free: body was not called.
template <class Body> auto spawn_somehow(actor &a, Body body) {
    using result = std::invoke_result_t<Body>;
    using handle = fult::handle<result>;
    draw &random = a.random;
    const auto ticket = a.in.tasks.issue();
    auto once = [&in = a.in, ticket, body = std::move(body)]() mutable -> result {
        in.tasks.runs(ticket);
        return body();
    };
    try {
        switch (random.below(10)) {
        case 0:
            return handle(fult::spawn_on(some_worker(random), std::move(once)));
        case 1:
            return handle(fult::spawn_pinned(some_worker(random), std::move(once)));
        case 2:
        case 3: {
            const drawn_options with(random);
            return handle(fult::spawn(with.options, std::move(once)));
        }
        case 4: // a closure in a box of its own
            return handle(
                fult::spawn([once = std::move(once), ballast = std::array<char, 300>()]() mutable -> result {
                    ballast.fill(1);
                    return once();
                }));
        default:
            return handle(fult::spawn(std::move(once)));
        }
    } catch (const std::system_error &) {
        a.in.tasks.cancel(ticket);
        return handle();
    }
}

// Waits for the tasks in some way, so that each can be joined at once; empty handles among them.
template <class R> void wait_somehow_for(actor &a, const std::vector<fult::handle<R>> &tasks) {
    switch (a.random.below(4)) {
    case 0:
        fult::wait_all(tasks);
        break;
    case 1:
        try {
            const std::size_t first = fult::wait_any(tasks);
            check(first <= tasks.size() && (first == tasks.size() || tasks[first].done()),
                  "wait_any has returned %zu of %zu", first, tasks.size());
        } catch (const std::system_error &) { // a foreign thread's: a task waits for it, and there is no slot
        }
        break;
    case 2:
        a.pause();
        break;
    default:
        break;
    }
}

// A number of actors, each of which calls body(member, number): tasks, and threads if they are allowed. If
// slots run out there are fewer, perhaps none. Members begin when `open` is called; the number is known then.
class actor_group {
  public:
    using body = std::function<void(actor &, unsigned)>;

    actor_group(actor &maker, unsigned wanted, body what);
    ~actor_group() { join(); }
    actor_group(const actor_group &) = delete;
    actor_group &operator=(const actor_group &) = delete;

    unsigned size() const noexcept { return size_; }
    void open() noexcept { gate_.set(); }
    void join();

  private:
    void member(std::uint64_t seed, unsigned number);
    void add_thread(std::uint64_t seed);

    actor &maker_;
    const body what_;
    unsigned size_ = 0;
    fult::event gate_;
    std::vector<fult::handle<void>> tasks_;
    std::vector<std::thread> threads_;
    std::atomic<unsigned> threads_left_{0};
    fult::event threads_gone_;
};

} // namespace random_programs
