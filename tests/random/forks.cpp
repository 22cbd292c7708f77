// The child of a fork in the midst of everything: it has none of the workers, so the calls that would need
// them end it with the sentence that reports it. Others work. The program goes on; what its other acts find
// shows whether the child has touched what it shares.
#include <cstring>
#include <functional>
#include <unistd.h>

#include <fult/inspect.hpp>

#include "acts.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/scale.hpp"

namespace random_programs::perform {
namespace {

using fult::testing::run_in_child;

void refused_in_child(const char *what, const std::function<void()> &body) {
    const auto how = run_in_child(body);
    if (!how)
        return;
    check(how->was_refused(), "%s in the child of a fork: status %d, and it says '%.200s'", what, how->status,
          how->said.c_str());
}

void allowed_in_child(const char *what, const std::function<void()> &body) {
    const auto how = run_in_child(body);
    if (!how)
        return;
    check(how->was_silent(), "%s in the child of a fork: status %d, and it says '%.200s'", what, how->status,
          how->said.c_str());
}

// A runtime in the child is refused by an exception.
void begin_another() {
    try {
        const fult::runtime another(fult::options{});
    } catch (const std::logic_error &refusal) {
        if (std::strstr(refusal.what(), "this process was forked while a runtime was running"))
            ::_exit(0);
    }
    ::_exit(1);
}

void refuse_a_wait(actor &a, const char *what,
                   const std::function<void(fult::event &, fult::handle<void> &)> &wait) {
    fult::event gate;
    fult::handle<void> task;
    try {
        task = fult::spawn([&gate] { gate.wait(); });
    } catch (const std::system_error &) { // no slot
        return;
    }
    if (a.random.one_in(2))
        a.pause();
    refused_in_child(what, [&] { wait(gate, task); });
    gate.set();
    task.join();
}

} // namespace

void fork(actor &a) {
    if (fult::testing::sanitized ||
        fult::testing::under_valgrind()) // their own threads do not survive a fork
        return;
    switch (a.random.below(a.is_task() ? 9 : 7)) {
    case 0:
        return refused_in_child("a spawn", [] { fult::spawn([] {}).detach(); });
    case 1:
        return refused_in_child("a spawn with options", [] { fult::spawn({.name = "named"}, [] {}).join(); });
    case 2:
        return refuse_a_wait(a, "a join", [](auto &, auto &task) { task.join(); });
    case 3:
        return refuse_a_wait(a, "a wait for an event", [](auto &gate, auto &) { gate.wait(); });
    case 4:
        return allowed_in_child("an end", [] {});
    case 5:
        return allowed_in_child("trim", [] { fult::trim(); });
    case 6:
        return allowed_in_child("another runtime", begin_another);
    case 7:
        return refused_in_child("a yield", [] { this_task::yield(); });
    default:
        return refused_in_child("a wait", [] {
            this_task::wait(); // a signal of another act may have come before the fork
            this_task::wait();
        });
    }
}

} // namespace random_programs::perform
