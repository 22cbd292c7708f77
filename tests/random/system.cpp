// Time, calls that block, descriptors, and inspection.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

#include <fult/blocking.hpp>
#include <fult/descriptor.hpp>
#include <fult/inspect.hpp>

#include "acts.hpp"
#include "spawning.hpp"
#include "waits.hpp"

namespace random_programs::perform {
namespace {

// A pipe, or a pair of sockets; none where descriptors have run out.
struct two_ends {
    int to_read = -1, to_write = -1;

    explicit two_ends(draw &random) {
        int ends[2];
        const bool ok = random.one_in(2)
                            ? ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0
                            : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0;
        if (ok)
            to_read = ends[0], to_write = ends[1];
    }
    ~two_ends() {
        for (const int end : {to_read, to_write})
            if (end >= 0)
                check(fult::close_descriptor(end) == 0, "a descriptor cannot be closed");
    }
    two_ends(const two_ends &) = delete;
    two_ends &operator=(const two_ends &) = delete;
    bool are_open() const noexcept { return to_read >= 0; }
};

bool is_ready(fult::descriptor_status status) {
    check(status != fult::descriptor_status::closed, "a descriptor is reported closed that was not closed");
    return status == fult::descriptor_status::ready;
}

void wait_to_read(actor &a, int from) {
    wait_until_it_has(
        a, [&] { return is_ready(fult::wait_readable(from)); },
        [&] { return is_ready(fult::wait_readable_for(from, std::chrono::seconds(0))); },
        [&](auto d) { return is_ready(fult::wait_readable_for(from, d)); },
        [&](auto t) { return is_ready(fult::wait_readable_until(from, t)); },
        [&](const std::stop_token &stop) { return is_ready(fult::wait_readable(from, stop)); });
}

void wait_to_write(actor &a, int to) {
    wait_until_it_has(
        a, [&] { return is_ready(fult::wait_writable(to)); },
        [&] { return is_ready(fult::wait_writable_for(to, std::chrono::seconds(0))); },
        [&](auto d) { return is_ready(fult::wait_writable_for(to, d)); },
        [&](auto t) { return is_ready(fult::wait_writable_until(to, t)); },
        [&](const std::stop_token &stop) { return is_ready(fult::wait_writable(to, stop)); });
}

// Whether a task of this name is suspended in a wait for something.
bool is_waiting(const std::string &name) {
    bool waits = false;
    fult::visit_tasks([&](const fult::task_description &task) {
        if (task.name == name && task.status == fult::task_status::waiting && task.waits_for)
            waits = true;
    });
    return waits;
}

} // namespace

void sleep(actor &a) {
    using namespace std::chrono;
    const auto before = steady_clock::now(); // time: a lower bound
    std::stop_source stop;
    const unsigned form = a.random.below(8);
    switch (form < 5 && !a.in.how.extreme_times ? form + 3 : form) {
    case 0:
        return this_task::sleep_for(0ns);
    case 1:
        return this_task::sleep_for(nanoseconds::min());
    case 2:
        return this_task::sleep_until(system_clock::time_point::min());
    case 3:
        stop.request_stop();
        // time: given, never reached
        check(!this_task::sleep_for(stop.get_token(), 1000h), "a sleep of 1,000 hours is over");
        return;
    case 4: {
        auto stopper = spawn_somehow(a, [stop]() mutable { stop.request_stop(); });
        if (!stopper.valid())
            return;
        check(!this_task::sleep_until(stop.get_token(), steady_clock::time_point::max()),
              "a sleep until the end of time is over");
        return stopper.join();
    }
    case 5:
        // time: a lower bound
        check(this_task::sleep_for(stop.get_token(), microseconds(100)),
              "a sleep was stopped without a request");
        // time: a lower bound
        return check(steady_clock::now() - before >= microseconds(100), "a sleep was too short");
    case 6:
        this_task::sleep_until(before + microseconds(300)); // time: a lower bound
        // time: a lower bound
        return check(steady_clock::now() - before >= microseconds(300), "a sleep was too short");
    default: {
        const auto time = microseconds(a.random.below(2000));                        // time: a lower bound
        this_task::sleep_for(time);                                                  // time: a lower bound
        return check(steady_clock::now() - before >= time, "a sleep was too short"); // time: a lower bound
    }
    }
}

// Errors and results come back from the thread of the pool.
void blocking(actor &a) {
    actor_group callers(a, a.random.between(1, 6), [](actor &self, unsigned number) {
        const auto call = [&](auto body) {
            try {
                return fult::run_blocking(body);
            } catch (const std::system_error &) { // no thread to be had: nothing was called
                return number;
            }
        };
        try {
            const unsigned got = call([&]() -> unsigned {
                check(!fult::in_task(), "a call that blocks runs as a task");
                if (self.random.one_in(3))
                    ::usleep(self.random.below(300)); // time: either order is right
                if (number % 3 == 2)
                    throw ordered(number);
                errno = static_cast<int>(number) + 1;
                return number;
            });
            check(got == number, "a call that blocks has a wrong result");
        } catch (const ordered &error) {
            check(error.number == number, "a call that blocks has a wrong exception");
        }
    });
    callers.join();
}

// Bytes through a pipe, in their order.
void pipe(actor &a) {
    const two_ends ends(a.random);
    if (!ends.are_open())
        return;
    const std::size_t count = a.random.between(1, a.random.one_in(4) ? 200000 : 100);
    auto writer = spawn_somehow(a, [&in = a.in, to = ends.to_write, count, seed = a.random.next()] {
        actor self{in, draw(seed), 0};
        for (std::size_t sent = 0; sent < count;) {
            char data[1024];
            const std::size_t part = std::min(count - sent, sizeof data);
            for (std::size_t i = 0; i < part; ++i)
                data[i] = static_cast<char>((sent + i) % 251);
            const ssize_t done = ::write(to, data, part);
            if (done > 0)
                sent += static_cast<std::size_t>(done);
            else
                wait_to_write(self, to);
            moved();
        }
    });
    if (!writer.valid())
        return;
    for (std::size_t got = 0; got < count;) {
        char data[1024];
        const ssize_t done = ::read(ends.to_read, data, sizeof data);
        for (ssize_t i = 0; i < done; ++i, ++got)
            check(data[i] == static_cast<char>(got % 251), "byte %zu is wrong", got);
        if (done <= 0)
            wait_to_read(a, ends.to_read);
        moved();
    }
    writer.join();
}

// Waiters are woken by the close. Nothing is ever written.
void closed_descriptor(actor &a) {
    two_ends ends(a.random);
    if (!ends.are_open())
        return;
    // time: either order is right
    check(fult::wait_readable_for(ends.to_read, std::chrono::microseconds(a.random.below(50))) ==
              fult::descriptor_status::timed_out,
          "an empty pipe is readable");
    const bool timed = a.random.one_in(2);
    const std::string name = "waits for descriptor " + std::to_string(ends.to_read);
    const auto body = [from = ends.to_read, timed] {
        const auto status =
            // time: given, never reached
            timed ? fult::wait_readable_for(from, std::chrono::hours(1000)) : fult::wait_readable(from);
        check(status == fult::descriptor_status::closed, "a wait for a closed descriptor returns %d",
              static_cast<int>(status));
    };
    fult::handle<void> waiting;
    try {
        waiting = fult::spawn({.name = name, .pinned = a.is_task() && a.random.one_in(2)}, body);
    } catch (const std::system_error &) { // no slot
        return;
    }
    // Closed before the wait begins, its number may be another's descriptor by then.
    while (!is_waiting(name))
        a.pause();
    check(fult::close_descriptor(std::exchange(ends.to_read, -1)) == 0, "a descriptor cannot be closed");
    waiting.join();
}

void trim(actor &a) {
    for (unsigned i = a.random.between(1, 8); i > 0; --i) {
        fult::trim();
        if (a.random.one_in(2))
            a.pause();
    }
}

void dump(actor &a) {
    if (a.random.one_in(2)) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE *)> nowhere(std::fopen("/dev/null", "we"),
                                                                       &std::fclose);
        if (nowhere)
            fult::dump_tasks(nowhere.get());
    } else {
        std::ofstream nowhere("/dev/null");
        fult::dump_tasks(nowhere);
    }
}

// Reads the whole description of a task; sometimes slowly, so that much changes during the visit.
void visit(actor &a) {
    std::size_t seen = 0, sum = 0;
    std::size_t slow = a.random.one_in(2) ? a.random.between(1, 50) : 0;
    const std::size_t count = fult::visit_tasks([&](const fult::task_description &task) {
        ++seen;
        if (slow > 0)
            // time: either order is right
            for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(30 * slow--);
                 std::chrono::steady_clock::now() < end;) { // time: either order is right
            }
        for (const char c : task.name)
            sum += static_cast<unsigned char>(c);
        if (task.waits_for)
            sum += static_cast<unsigned char>(*task.waits_for);
        for (const void *frame : task.frames)
            sum += frame != nullptr;
        check(task.id && task.home >= -1 && task.home < fult::worker_count(),
              "a task without a name, or with a home that is none");
    });
    check(seen == count, "%zu tasks were visited of %zu (%zu)", seen, count, sum);
}

void dump_signal(actor &a) {
    if (a.in.how.dump_signal)
        std::raise(SIGUSR1);
}

} // namespace random_programs::perform
